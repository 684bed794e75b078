"""What PyTorch's caching allocator counts for a row of fresh allocations.

Source: c10/cuda/CUDACachingAllocator.cpp. Requests are rounded to 512 bytes. Up to 1 MiB they share
segments of 2 MiB, up to 10 MiB segments of 20 MiB, above that a segment of whole 2 MiB is asked of
the driver. The smallest free block that holds a request is taken, and its rest is split off only
when that is larger than 1 MiB (512 bytes in small segments): what stays on counts as allocated.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable
from typing import Final

from vramledger.units import MIB, round_up

_SMALLEST: Final = 512
_SMALL: Final = 1 * MIB
_SMALL_SEGMENT: Final = 2 * MIB
_LARGE: Final = 10 * MIB
_MEDIUM_SEGMENT: Final = 20 * MIB
_SMALLEST_REST: Final = 1 * MIB


def allocated(sizes: Iterable[int], split_limit: int = 0) -> int:
    """Bytes counted for these requests, in order, when nothing is freed between them.

    `split_limit` is ``max_split_size`` in bytes (0: none): blocks from that size on are never
    split, and smaller requests never take them.
    """
    small: list[int] = []
    large: list[int] = []
    total = 0
    for nbytes in sizes:
        size = round_up(nbytes, _SMALLEST)
        if size <= _SMALL:
            total += _take(small, size, _SMALL_SEGMENT, _SMALLEST, 0)
        elif size < _LARGE:
            total += _take(large, size, _MEDIUM_SEGMENT, _SMALLEST_REST + 1, split_limit)
        else:
            segment = round_up(size, _SMALL_SEGMENT)
            total += _take(large, size, segment, _SMALLEST_REST + 1, split_limit)
    return total


def _take(free: list[int], size: int, segment: int, smallest_rest: int, split_limit: int) -> int:
    """The size of the block that serves a request; `free` is kept sorted."""
    if size == 0:
        return 0
    at = bisect_left(free, size)
    block = free.pop(at) if at < len(free) else segment
    rest = block - size
    splits = rest >= smallest_rest and not (split_limit and size >= split_limit)
    if not splits:
        return block
    insort(free, rest)
    return size
