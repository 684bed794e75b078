"""How PyTorch's caching allocator rounds an allocation.

Source: c10/cuda/CUDACachingAllocator.cpp. Requests are rounded to 512 bytes. From 10 MiB a segment
of whole 2 MiB is asked of the driver, and the rest of it is split off only when it is larger than
1 MiB; what is not split off counts as allocated.
"""

from typing import Final

from vramledger.units import MIB, round_up

_SMALLEST: Final = 512
_LARGE: Final = 10 * MIB
_SEGMENT: Final = 2 * MIB
_SMALLEST_REST: Final = 1 * MIB


def allocated(nbytes: int, split_limit: int = 0) -> int:
    """Bytes the allocator counts for a fresh request.

    `split_limit` is the engine's ``max_split_size`` in bytes while it loads weights (0: none):
    blocks from that size on are never split.
    """
    size = round_up(nbytes, _SMALLEST)
    if size < _LARGE:
        return size
    segment = round_up(size, _SEGMENT)
    if split_limit and segment >= split_limit:
        return segment
    return segment if segment - size <= _SMALLEST_REST else size
