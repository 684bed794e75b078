"""Every prompt to its server, some at a time, until all have ended or somebody interrupts."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from vramledger.methods.shadow.answer import Answer
from vramledger.methods.shadow.prompts import Prompt
from vramledger.methods.shadow.side import Side, Style

Ended = Callable[[], None]


class Asking:
    """Requests to one server under way, `at_once` at a time; answers come by the place of the prompt in the list."""

    def __init__(
        self, side: Side, prompts: Sequence[Prompt], style: Style, at_once: int, ended: Ended
    ) -> None:
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="shadow")
        self._futures = [self._pool.submit(side.answer, each, style) for each in prompts]
        for each in self._futures:
            each.add_done_callback(lambda _: ended())

    @property
    def futures(self) -> list["Future[Answer]"]:
        """One a prompt, in order."""
        return self._futures

    def stop(self) -> None:
        """Send no more; what is under way comes to its end."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def answers(self) -> list[Answer | None]:
        """None where a request was not sent or has not ended."""
        return [
            each.result() if each.done() and not each.cancelled() else None
            for each in self._futures
        ]


def ask_all(askings: Sequence[Asking]) -> bool:
    """Wait for all of them; whether they came to their end, and were not interrupted by Ctrl-C."""
    try:
        wait([future for asking in askings for future in asking.futures])
    except KeyboardInterrupt:
        return False
    else:
        return True
    finally:
        for asking in askings:
            asking.stop()
