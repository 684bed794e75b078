"""Recorded prefix blocks as the engine's own blocks."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vramledger.errors import CannotKnow
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

    A recorded block is cut into several of the engine's, or several make one, which its last names.

    Raises:
        CannotKnow: neither size is a multiple of the other.
    """
    recorded = offered.block_tokens
    if recorded % block_size == 0:
        return _kept(offered, 1, recorded // block_size)
    if block_size % recorded == 0:
        return _kept(offered, block_size // recorded, 1)
    raise CannotKnow(
        f"The workload's prefix blocks have {recorded} tokens and the engine's {block_size}, and neither "
        "is a multiple of the other, so hits cannot be counted; simulate with --no-prefix."
    )


def _kept(offered: Offered, every: int, pieces: int) -> Prefixes:
    counts = np.diff(offered.prefix_ends, prepend=0)
    full = np.minimum(counts, offered.input_tokens // offered.block_tokens) // every
    place = np.arange(len(offered.prefix)) - np.repeat(offered.prefix_ends - counts, counts)
    chosen = (place < np.repeat(full * every, counts)) & (place % every == every - 1)
    return Prefixes(offered.prefix[chosen], full, pieces)
