"""Recorded prefix blocks as the engine's own blocks."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vramledger.frozen import frozen
from vramledger.simulate.offered import Offered

if TYPE_CHECKING:
    Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


@frozen
class Prefixes:
    """Identities of all requests one after another, `lengths` a request; each names `pieces` blocks."""

    identities: "Integers"
    lengths: "Integers"
    pieces: int


def no_prefixes(count: int) -> Prefixes:
    """Requests that share nothing."""
    return Prefixes(np.zeros(0, np.int64), np.zeros(count, np.int64), 1)


def prefixes_of(offered: Offered, block_size: int) -> Prefixes:
    """The prefixes in blocks of the engine; recorded blocks that a prompt does not fill are left out.

    Where a recorded block holds a whole number of the engine's it is cut into them. Otherwise a block
    of the engine is named by the recorded block in which it ends: prompts that are alike up to there
    share it, and those that part before do not, although they may part behind the engine's block.
    """
    recorded = offered.block_tokens
    counts = np.diff(offered.prefix_ends, prepend=0)
    full = np.minimum(counts, offered.input_tokens // recorded)
    if recorded % block_size == 0:
        inside = np.arange(len(offered.prefix)) - np.repeat(offered.prefix_ends - counts, counts)
        return Prefixes(
            offered.prefix[inside < np.repeat(full, counts)], full, recorded // block_size
        )
    lengths = full * recorded // block_size
    number = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    ends_in = ((number + 1) * block_size - 1) // recorded
    names = offered.prefix[np.repeat(offered.prefix_ends - counts, lengths) + ends_in]
    span = recorded // block_size + 2  # more than the blocks that end in one recorded block
    return Prefixes(names * span + number % span, lengths, 1)
