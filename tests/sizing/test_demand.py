"""The distribution of KV blocks held by requests in flight."""

import cmath
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.plan.lengths import Length
from vramledger.sizing.demand import Demand, InFlight, in_flight
from vramledger.sizing.fourier import inverse, transform
from vramledger.units import div_ceil

CHAT = (
    Length(200, 150, 50.0),
    Length(1500, 400, 35.0),
    Length(8000, 600, 12.0),
    Length(60000, 1200, 3.0),
)


def blocks_of_16(tokens: int) -> int:
    return div_ceil(tokens, 16)


@given(st.lists(st.floats(-100, 100), min_size=8, max_size=8))
def test_the_inverse_transform_undoes_the_transform(values: list[float]) -> None:
    there = transform(values)
    assert len(there) == 5
    assert inverse(there) == pytest.approx(values, abs=1e-9)


def test_the_transform_is_the_sum_over_roots_of_unity() -> None:
    values = [3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0, 6.0]
    for k, found in enumerate(transform(values)):
        turned = (v * cmath.exp(-2j * cmath.pi * k * i / 8) for i, v in enumerate(values))
        assert found == pytest.approx(sum(turned), abs=1e-12)


def test_the_transform_refuses_other_sizes() -> None:
    with pytest.raises(ValueError, match="power of two"):
        transform([1.0, 2.0, 3.0])


def test_a_constant_request_makes_an_exact_product() -> None:
    demand = Demand(InFlight((512,), (1.0,)))
    assert demand.quantile(16, 0.99) == 16 * 512
    assert demand.held(16 * 512, 0.99) == 16
    assert demand.held(16 * 512 - 1, 0.99) == 15


def test_a_request_met_in_flight_is_longer_than_the_average_request() -> None:
    single = in_flight(CHAT, blocks_of_16)
    weight = sum(length.weight for length in CHAT)
    plain = sum(
        length.weight * blocks_of_16(length.input_tokens + length.output_tokens // 2)
        for length in CHAT
    )
    assert single.mean > plain / weight


@pytest.mark.parametrize("requests", [1, 3, 20, 150])
def test_quantiles_agree_with_drawing_requests_at_random(requests: int) -> None:
    single = in_flight(CHAT, blocks_of_16)
    draws = random.Random(7)
    sums = sorted(
        sum(draws.choices(single.blocks, single.probabilities, k=requests)) for _ in range(8000)
    )
    demand = Demand(single)
    for share in (0.5, 0.9, 0.95):
        # three standard errors of the drawn quantile, as ranks
        margin = 3 * (share * (1 - share) * len(sums)) ** 0.5
        low = sums[int(share * len(sums) - margin)]
        high = sums[int(share * len(sums) + margin)]
        assert 0.995 * low - 2 <= demand.quantile(requests, share) <= 1.005 * high + 2


def test_more_requests_never_hold_fewer_blocks() -> None:
    demand = Demand(in_flight(CHAT, blocks_of_16))
    quantiles = [demand.quantile(n, 0.95) for n in (1, 2, 4, 8, 16, 32, 64)]
    assert all(a < b for a, b in pairwise(quantiles))


def test_held_is_the_inverse_of_the_quantile() -> None:
    demand = Demand(in_flight(CHAT, blocks_of_16))
    held = demand.held(20_000, 0.95)
    assert demand.quantile(held, 0.95) <= 20_000
    assert demand.quantile(held + max(1, held // 100), 0.95) > 20_000 * 0.99


def test_a_pool_too_small_for_one_holds_none() -> None:
    assert Demand(InFlight((100,), (1.0,))).held(99, 0.5) == 0


def test_interpolated_quantiles_agree_with_the_computed_ones() -> None:
    demand = Demand(in_flight(CHAT, blocks_of_16))
    for requests in (33, 45, 67, 131, 500):
        exact = demand._exact(requests, 0.95)
        assert demand.quantile(requests, 0.95) == pytest.approx(exact, rel=0.003)
