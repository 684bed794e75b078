"""Names for blocks of tokens, so that prompts that begin alike share them, as vLLM's chain of hashes does."""

from array import array
from collections.abc import Sequence


def block_names(tokens: Sequence[int], block_size: int, salt: str = "") -> tuple[int, ...]:
    """One for each full block: equal for equal tokens from the start on, and equal salts.

    A name is Python's own 64-bit hash of the block and the name before it, which holds within one process.
    """
    packed = array("q", tokens)
    name = hash(salt)
    names = []
    for start in range(0, len(packed) - block_size + 1, block_size):
        name = hash((name, packed[start : start + block_size].tobytes()))
        names.append(name)
    return tuple(names)
