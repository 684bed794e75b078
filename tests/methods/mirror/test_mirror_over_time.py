"""Intervals of live traffic, and what is kept of it."""

import numpy as np
import pytest

from vramledger.methods.mirror import kept
from vramledger.methods.mirror.kept import Kept
from vramledger.methods.mirror.over_time import OverTime
from vramledger.methods.shadow.intervals import ByPrompt

COUNT = 2000


def parted(share: float, stay: float, seed: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Ones and zeros with that share of ones, where one value is its neighbour's with the chance `stay`."""
    draw = np.random.default_rng(seed)
    fresh = (draw.random(COUNT) < share).astype(float)
    found = fresh.copy()
    for place in range(1, COUNT):
        if draw.random() < stay:
            found[place] = found[place - 1]
    return found


def width(low: float | None, high: float | None) -> float:
    assert low is not None
    assert high is not None
    return high - low


def test_independent_requests_get_about_the_interval_of_prompts() -> None:
    hits, places = parted(0.3, 0, 1), np.full(COUNT, 20.0)
    for name in ("ratio", "agreement"):
        ours, theirs = (getattr(by, name)(hits, places) for by in (OverTime(), ByPrompt(1)))
        assert ours.value == theirs.value
        assert 0.7 < width(ours.low, ours.high) / width(theirs.low, theirs.high) < 1.6
    ours, theirs = OverTime().share(hits), ByPrompt(1).share(hits)
    assert ours.value == theirs.value
    assert 0.7 < width(ours.low, ours.high) / width(theirs.low, theirs.high) < 1.6


def test_requests_that_hang_together_in_time_say_less() -> None:
    """With neighbours alike with chance 0.9, n requests say as much as n / 19 independent ones: intervals are 4.4 times as wide."""
    places = np.full(COUNT, 20.0)
    wider = [
        width(each.low, each.high) / width(alone.low, alone.high)
        for seed in range(10)
        if (hits := parted(0.3, 0.9, seed)).any()
        and (each := OverTime().agreement(hits, places))
        and (alone := ByPrompt(1).agreement(hits, places))
    ]
    assert 3 < np.median(wider) < 7


def test_the_truth_lies_in_nine_of_ten_intervals_of_alike_neighbours() -> None:
    held = []
    for seed in range(100):
        found = OverTime().share(parted(0.3, 0.8, seed))
        assert found.low is not None
        assert found.high is not None
        held.append(found.low <= 0.3 <= found.high)
    assert sum(held) >= 88  # 95 expected; fewer than 88 of 100 once in 500 times


def test_where_nothing_parts_the_interval_is_the_exact_one() -> None:
    found = OverTime().agreement(np.zeros(100), np.full(100, 20.0))
    assert (found.value, found.high) == (1, 1)
    assert found.low == pytest.approx(1 - 0.036217 / 20, abs=1e-6)  # Clopper and Pearson, 0 of 100
    few = OverTime().ratio(np.array([1.0, 2.0, 4.0]), np.ones(3))
    assert few.value == pytest.approx(7 / 3)
    assert (few.low, few.high) == (None, None)


def test_what_is_kept_stays_in_order_and_within_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 50)
    held = Kept(1)
    for number in range(1000):
        held.answered(number, failed_by_b=number % 4 == 0)
    numbers = [each.number for each in held.ended]
    assert len(numbers) == 50
    assert numbers == sorted(numbers)
    assert 300 < np.mean(numbers) < 700  # from all of the time
