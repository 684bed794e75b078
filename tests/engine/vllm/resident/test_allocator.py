"""The caching allocator's counting."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.engine.vllm.resident.allocator import allocated
from vramledger.units import MIB


@pytest.mark.parametrize(
    ("sizes", "counted"),
    [
        ([], 0),
        ([1], 512),
        ([513], 1024),
        ([48 * MIB], 48 * MIB),
        ([63 * MIB // 2], 32 * MIB),  # 31.5 MiB: the rest of 0.5 MiB is not split off
        ([49 * MIB // 2], 49 * MIB // 2),  # 24.5 MiB: the rest of 1.5 MiB is
        ([49 * MIB // 2, 3 * MIB // 2], 26 * MIB),  # and serves the next request
        ([9 * MIB, 9 * MIB], 18 * MIB),  # two in a segment of 20 MiB
        ([9 * MIB, 10 * MIB], 20 * MIB),  # the second takes the whole rest
    ],
)
def test_requests_are_counted_as_blocks(sizes: list[int], counted: int) -> None:
    assert allocated(sizes) == counted


def test_the_last_block_of_a_medium_segment_keeps_a_small_rest() -> None:
    sizes = [7 * MIB, 7 * MIB, 5 * MIB + MIB // 2]
    assert allocated(sizes) == 20 * MIB


def test_a_split_limit_keeps_large_blocks_whole() -> None:
    size = 49 * MIB // 2
    assert allocated([size], split_limit=20 * MIB) == 26 * MIB


@given(sizes=st.lists(st.integers(1, 200 * MIB), max_size=30), limited=st.booleans())
def test_nothing_is_counted_below_its_size_or_far_above(sizes: list[int], *, limited: bool) -> None:
    counted = allocated(sizes, 20 * MIB if limited else 0)
    assert sum(sizes) <= counted <= sum(size + 2 * MIB for size in sizes)
