"""``slow-drip:SHARE``: that share of the answers comes a byte at a time, a byte every millisecond."""

import asyncio
from collections import deque
from random import Random
from typing import Final

from vramledger.rehearse.faults.fault import Chance
from vramledger.rehearse.http.sink import Sink

_EVERY_S: Final = 0.001


class SlowDrip(Chance):
    """Something in between passes on single bytes."""

    form = "slow-drip:SHARE"

    def in_front(self, sink: Sink, draw: Random, tokens: int) -> Sink:
        """The whole answer."""
        del tokens
        return _Dripping(sink) if self.befalls(draw) else sink


class _Dripping:
    """Keeps what is written, and lets a byte through at a time; tokens arrive with the last byte of their piece."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._pieces: deque[tuple[bytes, int]] = deque()
        self._at = 0  # in the first of them
        self._drips = self._whole = self._broken = False

    def write(self, data: bytes, tokens: int) -> None:
        """Some of the body."""
        self._pieces.append((data, tokens))
        self._start()

    def finish(self) -> None:
        """The body is whole, once it has all come through."""
        self._whole = True
        self._start()

    def break_off(self) -> None:
        """It ends here."""
        self._broken = True
        self._sink.break_off()

    def _start(self) -> None:
        if not self._drips:
            self._drips = True
            self._drip()

    def _drip(self) -> None:
        if self._broken:
            return
        if not self._pieces:
            self._drips = False
            if self._whole:
                self._sink.finish()
            return
        data, tokens = self._pieces[0]
        byte = data[self._at : self._at + 1]
        self._at += 1
        ends = self._at >= len(data)
        if ends:
            self._pieces.popleft()
            self._at = 0
        self._sink.write(byte, tokens if ends else 0)
        asyncio.get_running_loop().call_later(_EVERY_S, self._drip)
