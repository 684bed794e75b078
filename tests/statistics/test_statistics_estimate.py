"""Intervals of one run's figures: against theory, against draws, and how often they hold the truth."""

from math import inf, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import lfilter
from scipy.stats import binom, norm

from vramledger.statistics.block_length import block_length, least_error_length
from vramledger.statistics.draws import mean_draws, percentile_draws, plain_draws
from vramledger.statistics.estimate import mean_of, percentile_of, rate_of, ratio, share_of

REPEATS = 250
MOST_OFF = 0.045  # of 250, a true 95 % strays further with a probability below 0.002

Array = np.ndarray[Any, np.dtype[np.float64]]


def alike(correlation: float, count: int, seed: int) -> Array:
    """A steady series of mean 0 and deviation 1."""
    noise = np.random.default_rng([seed, count]).normal(size=count + 300)
    found: Array = lfilter([sqrt(1 - correlation**2)], [1, -correlation], noise)[300:]
    return found


@pytest.mark.parametrize(("correlation", "arch"), [(0.0, 1.29), (0.5, 12.03), (0.8, 28.58)])
def test_blocks_are_as_long_as_another_program_makes_them(correlation: float, arch: float) -> None:
    """`arch` 8.0.0, optimal_block_length, circular, of the same series."""
    rng = np.random.default_rng(1)
    for each in (0.0, 0.5, 0.8):
        noise, series = rng.standard_normal(1000), np.zeros(1000)
        for at in range(1, 1000):
            series[at] = each * series[at - 1] + noise[at]
        if each == correlation:
            assert least_error_length(series) == pytest.approx(arch, rel=0.05)


@given(st.integers(0, 400), st.integers(0, 10))
def test_a_block_is_one_value_or_leaves_eight_of_them(count: int, seed: int) -> None:
    length = block_length(alike(0.9, count, seed))
    assert length == 1 or count // length >= 8


@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_nineteen_of_twenty_intervals_hold_the_truth(correlation: float) -> None:
    truths = {share: float(norm.ppf(share)) for share in (0.5, 0.95, 0.99)}
    held = dict.fromkeys(("mean", "share", *truths), 0)
    for seed in range(REPEATS):
        values = alike(correlation, 3000, seed)
        mean, share = mean_of(values), share_of((values < truths[0.95]).astype(float))
        assert mean is not None
        assert share is not None
        held["mean"] += mean.low <= 0 <= mean.high
        held["share"] += share.low <= 0.95 <= share.high
        for asked, truth in truths.items():
            found = percentile_of(values, asked)
            assert found is not None
            held[asked] += found.low <= truth <= found.high
    for name, count in held.items():
        assert abs(count / REPEATS - 0.95) <= MOST_OFF, name


def test_the_error_of_a_mean_is_that_of_theory() -> None:
    found = mean_of(np.random.default_rng(7).exponential(1.0, 4000))
    assert found is not None
    assert found.error == pytest.approx(1 / sqrt(4000), rel=0.2)


def test_blocks_see_that_neighbours_are_alike() -> None:
    found = mean_of(alike(0.7, 20_000, 8))
    assert found is not None
    assert found.error == pytest.approx(sqrt((1 + 0.7) / (1 - 0.7) / 20_000), rel=0.2)


def test_the_interval_of_a_percentile_is_an_order_statistics() -> None:
    """Of independent values it is the distribution-free one."""
    values = np.arange(1.0, 20_001.0)
    np.random.default_rng(3).shuffle(values)
    found = percentile_of(values, 0.95)
    assert found is not None
    low, high = binom.ppf([0.025, 0.975], 20_000, 0.95)
    assert found.value == 19_000
    assert (found.low, found.high) == pytest.approx((low, high), abs=12)


def test_a_percentile_that_the_sample_does_not_bound_is_open_above() -> None:
    values = np.random.default_rng(4).random(300)
    found = percentile_of(values, 0.99)  # 0.99^300 is 4.9 %, more than 2.5 %
    assert found is not None
    assert (found.high, found.error) == (inf, None)


def test_percentiles_among_failures_are_infinite() -> None:
    values = np.append(np.ones(900), np.full(100, inf))
    np.random.default_rng(5).shuffle(values)
    high, low = percentile_of(values, 0.95), percentile_of(values, 0.5)
    assert high is not None
    assert low is not None
    assert (high.value, high.low, high.error) == (inf, inf, None)
    assert (low.value, low.low, low.high, low.error) == (1, 1, 1, 0)
    assert mean_of(values) is None


def test_values_that_belong_together_count_as_one_entry() -> None:
    each = np.random.default_rng(6).random(2000)
    alone = percentile_of(each, 0.9)
    together = percentile_of(np.repeat(each, 7), 0.9, np.full(2000, 7.0))
    assert alone is not None
    assert together is not None
    assert (together.low, together.value, together.high) == pytest.approx(
        (alone.low, alone.value, alone.high), abs=1e-9
    )


def test_nothing_has_no_figure() -> None:
    nothing = np.zeros(0)
    assert mean_of(nothing) is None
    assert share_of(nothing) is None
    assert percentile_of(np.full(4, np.nan), 0.5) is None
    assert rate_of(np.ones(3), np.zeros(3)) is None
    with pytest.raises(ValueError, match="nothing"):
        ratio(nothing)
    few = mean_of(np.ones(3))
    assert few is not None
    assert (few.value, few.low, few.high, few.error) == (1, -inf, inf, None)


def test_the_fast_draws_are_the_plain_ones() -> None:
    values = np.round(alike(0.6, 1500, 1), 2)
    plain = plain_draws(values, np.mean, 30, seed=2, draws=50)
    assert mean_draws(values, 30, seed=2, draws=50) == pytest.approx(plain)
    shares = (0.5, 0.95)
    fast = percentile_draws(values, shares, 30, seed=2, draws=50)
    for column, share in enumerate(shares):

        def percentile(drawn: Array, share: float = share) -> float:
            return float(np.quantile(drawn, share, method="inverted_cdf"))

        assert fast[:, column] == pytest.approx(plain_draws(values, percentile, 30, 2, 50))


def test_the_formula_is_the_limit_of_draws() -> None:
    values = alike(0.6, 4000, 3)
    found = ratio(values)
    drawn = mean_draws(values, found.length, seed=4, draws=4000)
    assert found.error == pytest.approx(drawn.std(ddof=1), rel=0.05)


def test_half_a_million_values_take_a_moment() -> None:
    """Blocks do not multiply with the values."""
    values = alike(0.9, 500_000, 1)
    found = percentile_of(values, 0.99)
    assert found is not None
    assert found.blocks <= 2000
    assert percentile_draws(values, (0.5, 0.99), found.length, 1, 200).shape == (200, 2)
