"""Slopes with errors that allow for neighbours being alike."""

from typing import Any

import numpy as np
import pytest

from vramledger.statistics.trend import FEWEST, trend

SERIES = 300


def alike(correlation: float, count: int, seed: int) -> "np.ndarray[Any, Any]":
    """A steady series of deviation 1."""
    noise = np.random.default_rng(seed).normal(size=count + 100)
    found = np.zeros(count + 100)
    for at in range(1, len(found)):
        found[at] = correlation * found[at - 1] + noise[at]
    steady: np.ndarray[Any, Any] = found[100:] * np.sqrt(1 - correlation**2)
    return steady


def test_an_exact_line_has_its_slope_and_no_error() -> None:
    t_s = np.arange(20.0)
    found = trend(t_s, 3 + 0.5 * t_s)
    assert found is not None
    assert found.slope == pytest.approx(0.5)
    assert found.low == found.high == found.slope
    assert found.p_rises == 0
    assert found.grown == pytest.approx(0.5 * 19)


def test_a_constant_does_not_rise() -> None:
    found = trend(np.arange(20.0), np.ones(20))
    assert found is not None
    assert (found.slope, found.p_rises) == (0, 1)


def test_too_few_values_have_no_trend() -> None:
    assert trend(np.arange(FEWEST - 1.0), np.arange(FEWEST - 1.0)) is None
    assert trend(np.ones(20), np.arange(20.0)) is None


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8])
def test_steady_series_are_seldom_called_rising(correlation: float) -> None:
    times = np.arange(60.0)
    rising = 0
    for seed in range(SERIES):
        found = trend(times, alike(correlation, 60, seed))
        assert found is not None
        rising += found.p_rises < 0.01
    most = 0.03  # of 300, a true 1 % gives more with a probability below 0.002
    assert rising <= most * SERIES


def test_a_rise_of_eight_deviations_is_seen_in_most_series_that_are_alike() -> None:
    times = np.arange(60.0)
    seen = sum(
        found.p_rises < 0.01
        for seed in range(100)
        if (found := trend(times, alike(0.8, 60, seed) + 8 * times / 60)) is not None
    )
    assert seen >= 80
