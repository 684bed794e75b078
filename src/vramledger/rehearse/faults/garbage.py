"""``garbage:SHARE``: in that share of the answers, one piece is half its JSON and then bytes that are no UTF-8."""

from random import Random
from typing import Final

from vramledger.rehearse.faults.fault import Chance
from vramledger.rehearse.http.sink import Sink

_FRAME: Final = 2  # bytes at the end of an event that still end it


class Garbage(Chance):
    """A piece is as long as it should be, but says nothing."""

    form = "garbage:SHARE"

    def in_front(self, sink: Sink, draw: Random, tokens: int) -> Sink:
        """The piece with some token of the answer."""
        return _Spoiling(sink, draw.randint(1, max(1, tokens))) if self.befalls(draw) else sink


class _Spoiling:
    """Spoils the piece with that token."""

    def __init__(self, sink: Sink, token: int) -> None:
        self._sink, self._left = sink, token

    def write(self, data: bytes, tokens: int) -> None:
        """Some of the body; tokens of a spoilt piece do not arrive."""
        before, self._left = self._left, self._left - tokens
        if before > 0 >= self._left:
            half = len(data) // 2
            spoilt = b"\xff" * (len(data) - half - _FRAME)
            self._sink.write(data[:half] + spoilt + data[-_FRAME:], 0)
        else:
            self._sink.write(data, tokens)

    def finish(self) -> None:
        """The body is whole."""
        self._sink.finish()

    def break_off(self) -> None:
        """It ends here."""
        self._sink.break_off()
