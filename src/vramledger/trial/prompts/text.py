"""Text of exactly so many units, alike where prefix blocks are alike and nowhere else.

A stretch of text begins with a number in the base of the lexicon, lowest digit first, a unit a digit; what follows is
cut from a tape of drawn units at a place that the number tells. Engines know a block of the prompt by all that
stands before its end, so that two prompts share a cache block only where their stretches began alike.
"""

from collections.abc import Sequence
from typing import Final

from vramledger.trial.prompts.lexicon import Lexicon
from vramledger.trial.prompts.numbering import BLOCK, PRIVATE, numbering

_TAPE: Final = 1 << 16  # units
_STREAM: Final = 21  # of the salt
_NUMBER_BITS: Final = 64


class TextMaker:
    """Makes the content of prompts; the same salt and lexicon make the same text in every process."""

    def __init__(self, lexicon: Lexicon, salt: int, own: int = PRIVATE) -> None:
        """`own` is the kind of the numbers that requests have (`numbering`)."""
        self._lexicon = lexicon
        self._units = [unit.encode() for unit in lexicon.units]
        self._lead = lexicon.lead.encode()
        self._own = numbering(salt, own)
        self._blocks = numbering(salt, BLOCK)
        self._bits = len(self._units).bit_length() - 1
        self._last_digit = len(self._units) - 1
        self._digits = -(-_NUMBER_BITS // self._bits)
        self._write_tape(salt)

    def text(
        self, number: int, tokens: int, blocks: Sequence[int] = (), block_tokens: int = 0
    ) -> bytes:
        """The content of a prompt of `tokens` tokens as a whole, or of the fewest there are where that is more.

        Args:
            number: of the request; what no block covers belongs to it alone.
            tokens: of the prompt, with all that a template puts around.
            blocks: identities of its leading blocks; those that it does not fill are left out.
            block_tokens: tokens of a block; the first ones of block 0 are those of the template.
        """
        length = max(0, tokens - self._lexicon.around)
        pieces, place = [self._lead], 0
        full = min(len(blocks), tokens // block_tokens) if block_tokens else 0
        for index in range(full):
            end = min(length, (index + 1) * block_tokens - self._lexicon.before)
            if end > place:
                self._stretch(pieces, self._blocks(blocks[index]), end - place)
                place = end
        if place < length:
            self._stretch(pieces, self._own(number), length - place)
        found = b"".join(pieces)
        return found if self._lead else found[1:]

    def _stretch(self, pieces: list[bytes], number: int, length: int) -> None:
        """Append the first `length` units of the stretch of that number."""
        rest, units, bits, last = number, self._units, self._bits, self._last_digit
        for _ in range(min(length, self._digits)):
            pieces.append(units[rest & last])
            rest >>= bits
        start, left = number % _TAPE, length - self._digits
        ends, tape = self._ends, self._tape
        while left > 0:
            stop = min(_TAPE, start + left)
            pieces.append(tape[ends[start] : ends[stop]])
            left -= stop - start
            start = 0

    def _write_tape(self, salt: int) -> None:
        """`_TAPE` drawn units, and where each ends: `_ends[i]` bytes hold the first i."""
        from itertools import accumulate

        from vramledger.workload.operators.draws import generator

        drawn = generator(salt, _STREAM).integers(0, len(self._units), _TAPE).tolist()
        written = [self._units[place] for place in drawn]
        self._tape = b"".join(written)
        self._ends = [0, *accumulate(map(len, written))]
