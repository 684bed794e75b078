"""How a quantised matrix is stored: a few arrays, each one element per tile of the matrix.

A weight of 4 bits has an element per 1x1 tile, a scale of a group of 128 inputs one per 1x128
tile, a per-tensor scale one for the whole matrix. Applied to a rank's share of the matrix the same
record gives that rank's bytes.
"""

from collections.abc import Sequence
from enum import Enum
from math import prod

from vramledger.frozen import frozen
from vramledger.units import div_ceil


class Family(Enum):
    """Formats that kernels treat alike."""

    FP8 = "fp8"
    INT8 = "int8"
    GPTQ = "gptq"
    AWQ = "awq"
    PACKED_INT = "packed int"
    MXFP4 = "mxfp4"
    MXFP6 = "mxfp6"
    MXFP8 = "mxfp8"
    NVFP4 = "nvfp4"
    BNB4 = "bitsandbytes 4-bit"
    BNB8 = "bitsandbytes 8-bit"


WHOLE = 0  # a tile as long as the dimension


class Packing(Enum):
    """Along which dimension elements are packed into words."""

    NONE = "none"
    INPUTS = "inputs"
    OUTPUTS = "outputs"


@frozen
class Part:
    """One stored array beside or instead of a matrix ``[out, in]``.

    `out_tile` x `in_tile` matrix elements share one element of `bits` bits; ``WHOLE`` stands for the
    full dimension. Elements packed into words of `word_bits` fill whole words along `packing`.
    """

    name: str  # as checkpoints call it: "weight", "scales", "qzeros", ...
    bits: int
    out_tile: int = 1
    in_tile: int = 1
    packing: Packing = Packing.NONE
    word_bits: int = 32

    def nbytes(self, out: int, inp: int) -> int:
        """Bytes for a matrix of that shape."""
        rows = _tiles(out, self.out_tile)
        columns = _tiles(inp, self.in_tile)
        if self.packing is Packing.INPUTS:
            return rows * div_ceil(columns * self.bits, self.word_bits) * self.word_bits // 8
        if self.packing is Packing.OUTPUTS:
            return columns * div_ceil(rows * self.bits, self.word_bits) * self.word_bits // 8
        return div_ceil(rows * columns * self.bits, 8)


@frozen
class Tiled:
    """An encoding made of parts.

    `name` is the format's usual name with its granularity, `family` what kernels choose by.
    """

    name: str
    family: Family
    parts: tuple[Part, ...]

    def nbytes(self, shape: Sequence[int]) -> int:
        """Bytes of one matrix ``[out, in]``, scales and zeros included."""
        out, inp = as_matrix(shape)
        return sum(part.nbytes(out, inp) for part in self.parts)


@frozen
class Flat:
    """An encoding that numbers the elements in one row and scales them by blocks (bitsandbytes).

    With `nested_block` > 0 the block scales are one byte each, scaled again in blocks of that many
    by four bytes (double quantisation). `fixed_bytes` are tables that come once a matrix.
    """

    name: str
    family: Family
    bits: int
    block: int
    nested_block: int = 0
    fixed_bytes: int = 0

    def nbytes(self, shape: Sequence[int]) -> int:
        """Bytes of one matrix, block scales and tables included."""
        elements = prod(shape)
        blocks = div_ceil(elements, self.block)
        scales = (
            blocks + 4 * div_ceil(blocks, self.nested_block) if self.nested_block else 4 * blocks
        )
        return div_ceil(elements * self.bits, 8) + scales + self.fixed_bytes


def as_matrix(shape: Sequence[int]) -> tuple[int, int]:
    """A shape of any rank as ``[out, in]``: leading dimensions count as outputs."""
    return prod(shape[:-1]), shape[-1] if shape else 1


def _tiles(length: int, tile: int) -> int:
    return 1 if tile == WHOLE else div_ceil(length, tile)
