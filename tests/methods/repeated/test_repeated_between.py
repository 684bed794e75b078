"""Intervals of several runs, against what draws of known spread do."""

from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from vramledger.methods.repeated.between import more_runs, of_runs

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20)


@given(VALUES)
def test_the_interval_is_students(values: list[float]) -> None:
    found = of_runs(values)
    error = stats.sem(values)
    if error > 1e-9:
        low, high = stats.t.interval(0.95, len(values) - 1, np.mean(values), error)
        assert (found.low, found.high) == pytest.approx((low, high), rel=1e-9, abs=1e-6)
    assert found.low <= found.mean <= found.high


def test_nineteen_of_twenty_intervals_hold_the_truth() -> None:
    generator = np.random.default_rng(5)
    runs = generator.normal(3.0, 0.5, (2000, 4))
    held = [found.low <= 3.0 <= found.high for found in map(of_runs, runs.tolist())]
    error = sqrt(0.95 * 0.05 / 2000)
    assert abs(np.mean(held) - 0.95) < 4 * error


def test_variance_within_and_between_are_told_apart() -> None:
    generator = np.random.default_rng(6)
    levels = generator.normal(10.0, 2.0, 400)  # between runs 2, within one 1 / sqrt(100)
    values = [generator.normal(level, 1.0, 100).mean() for level in levels]
    found = of_runs(values, [0.1] * 400)
    assert found.between == pytest.approx(2.0, rel=0.15)
    assert found.within == pytest.approx(0.1)
    alike = of_runs([1.0, 1.01], [0.5, 0.5])
    assert alike.between == 0.0


def test_one_run_has_no_interval() -> None:
    with pytest.raises(ValueError, match="two runs"):
        of_runs([1.0])


def test_percentiles_among_failures_leave_an_interval_open() -> None:
    some = of_runs([1.0, inf, 1.0])
    assert (some.mean, some.low, some.high) == (inf, -inf, inf)
    assert more_runs(some, 2.0) is None
    every = of_runs([inf, inf])
    assert every.low == inf
    assert more_runs(every, 2.0) == 0


@given(st.floats(0.1, 5.0), st.integers(2, 6))
def test_so_many_more_runs_decide_and_one_less_does_not(distance: float, count: int) -> None:
    values = [1.0 if place % 2 else -1.0 for place in range(count)]
    found = of_runs(values)
    more = more_runs(found, found.mean + distance)
    if more == 0:
        assert found.high < found.mean + distance
        return
    assert more is not None
    assert found.spread is not None

    def half(runs: int) -> float:
        return float(stats.t.ppf(0.975, runs - 1)) * found.spread / sqrt(runs)  # type: ignore[operator]

    assert half(count + more) < distance
    assert more == 1 or half(count + more - 1) >= distance


def test_a_figure_at_its_threshold_is_never_decided() -> None:
    assert more_runs(of_runs([1.0, 3.0]), 2.0) is None
    assert more_runs(of_runs([1.0, 3.0]), 2.0001) is None  # more than a thousand
