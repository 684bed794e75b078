"""An event loop that Ctrl-C ends in order: asyncio's own raises where the loop is made or taken down, and is then broken or deaf."""

import asyncio
import signal
import threading
from collections.abc import Awaitable, Callable
from types import FrameType


def run_interruptibly(main: Callable[[], Awaitable[None]]) -> None:
    """Run `main()` in an event loop of its own, to its end or until Ctrl-C cancels it.

    Where SIGINT has another handler than Python's own, or outside the main thread, signals are left alone.

    Raises:
        KeyboardInterrupt: SIGINT came at any moment of it; raised once the loop is closed.
    """
    import uvloop

    interrupt = _Interrupt()
    heeds = threading.current_thread() is threading.main_thread() and (
        signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
    if heeds:
        signal.signal(signal.SIGINT, interrupt.came)
    try:
        uvloop.run(interrupt.guarding(main))
    except asyncio.CancelledError:
        if not interrupt.count:
            raise
    finally:
        if heeds:
            signal.signal(signal.SIGINT, signal.default_int_handler)
    if interrupt.count:
        raise KeyboardInterrupt


class _Interrupt:
    """Counts signals, and cancels the task that it guards."""

    def __init__(self) -> None:
        self.count = 0
        self._cancel: Callable[[], object] | None = None

    def came(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1
        if self._cancel is not None:
            self._cancel()

    async def guarding(self, main: Callable[[], Awaitable[None]]) -> None:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        if task is None:
            return
        self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        try:
            if not self.count:
                await main()
        finally:
            self._cancel = None
