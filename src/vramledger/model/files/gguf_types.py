"""Element types of GGUF tensors: ids, and how many bytes a block of elements takes.

Block and byte sizes are those of the format's own reference constants; a row must be a whole
number of blocks.
"""

from collections.abc import Sequence
from math import prod
from typing import Final

from vramledger.frozen import frozen


@frozen
class GgufType:
    """One tensor type; also the `Encoding` of a tensor stored in it."""

    id: int
    name: str
    block: int  # elements that share a block
    block_bytes: int

    @property
    def bits_per_weight(self) -> float:
        return 8 * self.block_bytes / self.block

    def nbytes(self, shape: Sequence[int]) -> int:
        """Bytes for ``[..., in]``; a part of a row is rounded up to whole blocks."""
        if not shape:
            return self.block_bytes
        return prod(shape[:-1]) * -(-shape[-1] // self.block) * self.block_bytes


_TABLE: Final = (
    (0, "F32", 1, 4),
    (1, "F16", 1, 2),
    (2, "Q4_0", 32, 18),
    (3, "Q4_1", 32, 20),
    (6, "Q5_0", 32, 22),
    (7, "Q5_1", 32, 24),
    (8, "Q8_0", 32, 34),
    (9, "Q8_1", 32, 36),
    (10, "Q2_K", 256, 84),
    (11, "Q3_K", 256, 110),
    (12, "Q4_K", 256, 144),
    (13, "Q5_K", 256, 176),
    (14, "Q6_K", 256, 210),
    (15, "Q8_K", 256, 292),
    (16, "IQ2_XXS", 256, 66),
    (17, "IQ2_XS", 256, 74),
    (18, "IQ3_XXS", 256, 98),
    (19, "IQ1_S", 256, 50),
    (20, "IQ4_NL", 32, 18),
    (21, "IQ3_S", 256, 110),
    (22, "IQ2_S", 256, 82),
    (23, "IQ4_XS", 256, 136),
    (24, "I8", 1, 1),
    (25, "I16", 1, 2),
    (26, "I32", 1, 4),
    (27, "I64", 1, 8),
    (28, "F64", 1, 8),
    (29, "IQ1_M", 256, 56),
    (30, "BF16", 1, 2),
    (34, "TQ1_0", 256, 54),
    (35, "TQ2_0", 256, 66),
    (39, "MXFP4", 32, 17),
    (40, "NVFP4", 64, 36),
    (41, "Q1_0", 128, 18),
    (42, "Q2_0", 64, 18),
)
BY_ID: Final = {row[0]: GgufType(*row) for row in _TABLE}
BY_NAME: Final = {kind.name: kind for kind in BY_ID.values()}
RETIRED: Final = frozenset({4, 5, 31, 32, 33, 36, 37, 38})  # ids that older files used
