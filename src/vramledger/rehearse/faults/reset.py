"""``reset:SHARE``: that share of the answers ends in the middle with a reset of the connection."""

from random import Random

from vramledger.rehearse.faults.fault import Chance
from vramledger.rehearse.http.sink import Sink


class Reset(Chance):
    """The connection is gone after some of the tokens."""

    form = "reset:SHARE"

    def in_front(self, sink: Sink, draw: Random, tokens: int) -> Sink:
        """Up to a token of the answer, its last only where it has no other."""
        if not self.befalls(draw):
            return sink
        return _Breaking(sink, draw.randint(1, max(1, tokens - 1)))


class _Breaking:
    """Passes on so many tokens, and breaks off."""

    def __init__(self, sink: Sink, left: int) -> None:
        self._sink, self._left = sink, left

    def write(self, data: bytes, tokens: int) -> None:
        """Some of the body, and after enough of it the end."""
        if self._left <= 0:
            return
        self._sink.write(data, tokens)
        self._left -= tokens
        if self._left <= 0:
            self._sink.break_off()

    def finish(self) -> None:
        """Of an answer that was not broken off."""
        if self._left > 0:
            self._sink.finish()

    def break_off(self) -> None:
        """It ends here."""
        self._sink.break_off()
