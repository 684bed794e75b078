"""``stall:SHARE:TIME``: that share of the answers stops in the middle for so long, and goes on with all that was due."""

import asyncio
from collections.abc import Callable
from random import Random
from typing import Self

from vramledger.rehearse.faults.fault import Chance, seconds_of, share_of
from vramledger.rehearse.http.sink import Sink


class Stall(Chance):
    """The engine goes on, but nothing is heard of it."""

    form = "stall:SHARE:TIME"

    def __init__(self, share: float, seconds: float) -> None:
        super().__init__(share)
        self.seconds = seconds

    @classmethod
    def of(cls, argument: str) -> Self:
        """With its share and its time."""
        share, _, time = argument.partition(":")
        return cls(share_of(cls, share), seconds_of(cls, time))

    def in_front(self, sink: Sink, draw: Random, tokens: int) -> Sink:
        """From some token of the answer on."""
        if not self.befalls(draw):
            return sink
        return _Holding(sink, draw.randint(1, max(1, tokens - 1)), self.seconds)


class _Holding:
    """Passes on so many tokens, keeps what comes then for a time, and passes it all on at once."""

    def __init__(self, sink: Sink, left: int, seconds: float) -> None:
        self._sink, self._left, self._seconds = sink, left, seconds
        self._holds = False
        self._held: list[Callable[[], None]] = []

    def write(self, data: bytes, tokens: int) -> None:
        """Some of the body."""
        self._do(lambda: self._sink.write(data, tokens))
        before, self._left = self._left, self._left - tokens
        if before > 0 >= self._left:
            self._holds = True
            asyncio.get_running_loop().call_later(self._seconds, self._release)

    def finish(self) -> None:
        """The body is whole."""
        self._do(self._sink.finish)

    def break_off(self) -> None:
        """It ends here."""
        self._do(self._sink.break_off)

    def _do(self, act: Callable[[], None]) -> None:
        if self._holds:
            self._held.append(act)
        else:
            act()

    def _release(self) -> None:
        self._holds = False
        for act in self._held:
            act()
        self._held.clear()
