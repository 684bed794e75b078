"""Headroom is applied once, by kind and number, and never punishes a larger pool."""

from hypothesis import given
from hypothesis import strategies as st

from sizing_questions import need
from vramledger.plan.requirement import Kind
from vramledger.sizing.headroom import headroom
from vramledger.sizing.need import Need
from vramledger.sizing.peaks import Peak
from vramledger.units import div_ceil


def of(each: Need, blocks: int, in_flight: float) -> tuple[int, str]:
    kept = headroom(Peak((each,)), blocks, in_flight, lambda tokens: div_ceil(tokens, 16))
    return kept.blocks, kept.reason


def test_a_stated_share_wins() -> None:
    assert of(need(headroom=0.2), 1001, 50) == (201, "20% as asked")


def test_many_requests_keep_a_quarter() -> None:
    assert of(need(), 1000, 50) == (250, "25% (latency, many requests)")


def test_throughput_keeps_a_tenth() -> None:
    assert of(need(kind=Kind.THROUGHPUT), 1000, 2) == (100, "10% (throughput)")


def test_few_requests_keep_room_for_one_long_one() -> None:
    assert of(need(), 1000, 3) == (
        475,
        "one request of 7,600 tokens (48% of the pool; 99.9th percentile, few requests in flight)",
    )


def test_one_long_request_never_counts_more_than_the_pool() -> None:
    assert of(need(), 100, 1)[0] == 100


@given(st.integers(1, 20_000), st.integers(0, 2_000), st.floats(20, 500))
def test_a_larger_pool_is_never_left_with_less(blocks: int, more: int, mean: float) -> None:
    def safe(pool: int) -> int:
        return pool - of(need(), pool, pool / mean)[0]

    assert safe(blocks + more) >= safe(blocks) - 1  # a rounded block
