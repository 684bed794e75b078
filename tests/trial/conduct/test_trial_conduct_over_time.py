"""Rates and levels as distributions over time, beside plain versions of them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.trial.conduct.detail import detail, weighted_detail
from vramledger.trial.conduct.over_time import level_detail, rate_detail

SPAN = (10.0, 14.0)
MOMENTS = st.lists(st.floats(10.0, 14.0, allow_nan=False), min_size=1, max_size=30)


def test_each_moment_has_the_rate_over_the_time_nearer_to_it() -> None:
    found = rate_detail(np.array([11.0, 13.0]), np.array([1.0, 2.0]), SPAN)
    assert found is not None
    assert (found.count, found.min) == (3, 0.0)
    assert found.max == pytest.approx(2 / 1.5)
    assert found.mean == pytest.approx(3 / 4)


def test_events_within_a_tenth_of_a_millisecond_are_one_moment() -> None:
    found = rate_detail(np.array([12.0, 12.00004]), np.array([1.0, 1.0]), SPAN)
    assert found is not None
    assert found.max == pytest.approx(2 / 2)


def test_nothing_in_the_span_has_no_distribution() -> None:
    assert rate_detail(np.array([20.0]), np.array([1.0]), SPAN) is None
    assert level_detail(np.array([20.0]), np.array([21.0]), SPAN) is None
    assert rate_detail(np.array([10.0]), np.array([1.0]), (10.0, 10.0)) is None


@given(MOMENTS)
def test_the_mean_rate_is_all_that_happened_over_the_span(moments: list[float]) -> None:
    found = rate_detail(np.array(moments), np.ones(len(moments)), SPAN)
    assert found is not None
    assert found.mean == pytest.approx(len(moments) / 4, rel=1e-3)


@given(st.lists(st.tuples(st.floats(9.0, 15.0), st.floats(0.01, 3.0)), min_size=1, max_size=20))
def test_levels_are_those_counted_moment_by_moment(intervals: list[tuple[float, float]]) -> None:
    starts = np.array([start for start, _ in intervals])
    ends = np.array([start + length for start, length in intervals])
    found = level_detail(starts, ends, SPAN)
    edges = sorted({10.0, 14.0, *(each for each in (*starts, *ends) if 10.0 < each < 14.0)})
    told = []
    for left, right in pairwise(edges):
        middle = (left + right) / 2
        told.append((int(((starts <= middle) & (ends > middle)).sum()), right - left))
    if found is None:
        assert all(level == 0 for level, _ in told)
        return
    assert found.mean == pytest.approx(sum(level * lasts for level, lasts in told) / 4)
    assert found.max == max(level for level, lasts in told if lasts > 0)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30))
def test_equal_weights_change_nothing(values: list[int]) -> None:
    told = np.array(values, dtype=float)
    plain, weighted = detail(told), weighted_detail(told, np.ones(len(told)))
    assert plain is not None
    assert weighted is not None
    assert weighted.mean == pytest.approx(plain.mean)
    assert weighted.std == pytest.approx(plain.std, abs=1e-9)
    assert (weighted.count, weighted.mode, weighted.max) == (plain.count, plain.mode, plain.max)


def test_weights_of_whole_numbers_are_repetitions() -> None:
    found = weighted_detail(np.array([1.0, 5.0, np.nan]), np.array([3.0, 1.0, 9.0]))
    assert found is not None
    assert (found.count, found.mean, found.percentiles[0.75], found.percentiles[0.9]) == (
        4, 2.0, 1.0, 5.0,
    )  # fmt: skip
