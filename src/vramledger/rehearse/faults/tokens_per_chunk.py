"""``tokens-per-chunk:COUNT``: a chunk brings so many tokens, when the last of them is there."""

from dataclasses import replace
from typing import Self

from vramledger.rehearse.faults.fault import Fault, Style, wrong


class TokensPerChunk(Fault):
    """As with ``--stream-interval`` or a slow front, so that chunks are no tokens."""

    form = "tokens-per-chunk:COUNT"

    def __init__(self, count: int) -> None:
        self.count = count

    @classmethod
    def of(cls, argument: str) -> Self:
        """With the count."""
        if not (argument.isascii() and argument.isdigit()) or not 1 <= int(argument) <= 1 << 20:
            raise wrong(cls, argument)
        return cls(int(argument))

    def styled(self, style: Style) -> Style:
        """With so many tokens a chunk."""
        return replace(style, tokens_per_chunk=self.count)
