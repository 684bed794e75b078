"""Where bytes wait to be read: in slices between two looks at the sockets, so that reading delays no stamp."""

import time
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

_SLICE_NS: Final = 300_000


class Reader(Protocol):
    """Has bytes to read."""

    def read(self) -> None:
        """Read all of them."""


class Desk:
    """Reads for all connections of a loop, first come first served; then works on what can wait longest.

    `idle` is such work: it does a little and returns whether there is more.
    """

    def __init__(self, loop: AbstractEventLoop) -> None:
        self._loop = loop
        self._unread: deque[Reader] = deque()
        self._idle: Callable[[], bool] | None = None
        self._scheduled = False

    def put(self, reader: Reader) -> None:
        """There is something to read."""
        self._unread.append(reader)
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._work)

    def when_idle(self, work: Callable[[], bool]) -> None:
        """Do this work, again and again until it says that nothing is left, whenever nothing is to be read."""
        self._idle = work
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._work)

    def _work(self) -> None:
        unread, clock = self._unread, time.monotonic_ns
        end = clock() + _SLICE_NS
        while unread:
            unread.popleft().read()
            if clock() > end:
                break
        while not unread and self._idle is not None and clock() < end:
            if not self._idle():
                self._idle = None
        self._scheduled = bool(unread) or self._idle is not None
        if self._scheduled:
            self._loop.call_soon(self._work)
