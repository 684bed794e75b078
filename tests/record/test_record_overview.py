"""A run reduced to some hundred points: equal to what plain counting says, extremes kept."""

from bisect import bisect_right
from itertools import pairwise
from math import ceil, inf, isinf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.record.overview.bands import SHARES, banded, by_length
from vramledger.record.overview.columns import RequestColumns, RunColumns, StepColumns
from vramledger.record.overview.distribution import distribution
from vramledger.record.overview.levels import binned, envelope, stepped, total
from vramledger.record.overview.overview import BINS, LISTED, overview_of

SLOTS = 40  # whole seconds in which steps may begin and end


@st.composite
def engines(draw: st.DrawFn) -> list[list[tuple[int, int, int]]]:
    """Per engine (start, end, level) of steps that follow each other, with or without pauses."""
    found = []
    for _ in range(draw(st.integers(1, 3))):
        times = sorted(draw(st.sets(st.integers(0, SLOTS), min_size=2, max_size=12)))
        steps = [
            (start, end, draw(st.integers(0, 9)))
            for start, end in pairwise(times)
            if draw(st.booleans())
        ]
        found.append(steps or [(times[0], times[1], 1)])
    return found


def level_of(steps: list[tuple[int, int, int]]) -> Any:
    start, end, value = (np.array(each, np.float64) for each in zip(*steps, strict=True))
    return stepped(start, end, value)


def plainly(steps: list[tuple[int, int, int]], second: int) -> int:
    """The level of an engine in the second from `second` on."""
    return sum(value for start, end, value in steps if start <= second < end)


@given(engines(), st.integers(1, 7))
def test_bins_of_a_sum_are_what_counting_second_by_second_says(
    many: list[list[tuple[int, int, int]]], width: int
) -> None:
    edges = np.arange(0, SLOTS + width + 1, width, dtype=np.float64)
    found = binned(total([level_of(steps) for steps in many]), edges)
    for place, start in enumerate(edges[:-1]):
        seconds = range(int(start), int(start) + width)
        levels = [sum(plainly(steps, second) for steps in many) for second in seconds]
        assert found.mean[place] == pytest.approx(sum(levels) / width)
        assert (found.low[place], found.high[place]) == (min(levels), max(levels))


@given(engines())
def test_the_envelope_has_the_extremes_of_any_engine(
    many: list[list[tuple[int, int, int]]],
) -> None:
    edges = np.linspace(0, SLOTS, 5)
    parts = [binned(level_of(steps), edges) for steps in many]
    found = envelope(parts)
    assert (found.high == np.max([part.high for part in parts], axis=0)).all()
    assert (found.low <= found.mean).all()
    assert (found.mean <= found.high).all()


FIGURES = st.lists(
    st.tuples(st.integers(-1, 4), st.one_of(st.integers(0, 50), st.sampled_from([nan, inf]))),
    max_size=60,
)


@given(FIGURES)
def test_bands_are_the_nearest_ranks_of_each_group(rows: list[tuple[int, float]]) -> None:
    groups = np.array([group for group, _ in rows], np.int64)
    figures = np.array([figure for _, figure in rows], np.float64)
    found = banded(groups, figures, np.arange(0.5, 5.0))
    expected = {
        group: sorted(f for g, f in rows if g == group and f == f)  # noqa: PLR0124 - NaN
        for group in range(5)
    }
    assert found.group.tolist() == [group for group, values in expected.items() if values]
    for place, group in enumerate(found.group.tolist()):
        values = expected[group]
        assert found.count[place] == len(values)
        assert found.failed[place] == sum(map(isinf, values))
        assert found.at[place] == group + 0.5
        for name, share in SHARES.items():
            assert found.values[name][place] == values[max(ceil(share * len(values)) - 1, 0)]


@given(
    st.lists(st.tuples(st.floats(0, 100), st.integers(0, 5)), min_size=1, max_size=80).filter(
        lambda rows: any(weight for _, weight in rows)
    )
)
def test_a_distribution_counts_each_figure_as_often_as_it_occurred(
    rows: list[tuple[float, int]],
) -> None:
    weights = np.array([weight for _, weight in rows], np.float64)
    found = distribution(np.array([value for value, _ in rows]), weights)
    assert found is not None
    every = sorted(value for value, weight in rows for _ in range(weight))
    assert found.count == len(every)
    assert found.values[-1] == every[-1]
    assert (np.diff(found.shares) > 0).all()
    assert (np.diff(found.values) >= 0).all()
    for share, value in zip(found.shares, found.values, strict=True):
        within = bisect_right(every, value) / len(every)
        assert within >= share - 1e-9


def test_nothing_has_no_distribution_and_failures_are_its_upper_end() -> None:
    assert distribution(np.array([nan, nan])) is None
    found = distribution(np.array([1.0, 2.0, inf, nan]))
    assert found is not None
    assert found.count == 3
    assert isinf(found.values[-1])
    assert found.values[0] == 1.0
    assert found.from_the_top[-1] == 0.0


def test_lengths_are_grouped_two_to_a_doubling() -> None:
    tokens = np.array([1, 100, 100, 127, 128, 0], np.float64)
    found = by_length(tokens, np.array([1.0, 2.0, 4.0, 3.0, 5.0, 9.0]))
    assert found.count.tolist() == [1, 3, 1]  # 91 to 128 is one bin; a prompt of nothing is in none
    assert found.values["worst"].tolist() == [1.0, 4.0, 5.0]
    assert 100 < found.at[1] < 127


def run_of(requests: int, steps: int) -> RunColumns:
    at = np.arange(requests, dtype=np.float64)
    one = np.ones(requests)
    latency = dict.fromkeys(("ttft_s", "tpot_s", "queue_s", "e2e_s"), at % 7 + 1)
    step = np.arange(steps, dtype=np.float64)
    engine = StepColumns(step, step + 1, step % 5, step % 3, step % 2, (step % 10) / 10)
    return RunColumns(RequestColumns(at, one * 100, one * 10, latency, one), (engine,))


def test_an_overview_is_as_long_for_many_requests_as_for_few() -> None:
    found = overview_of(run_of(100_000, 100_000))
    assert len(found.over_time.starts_s) == BINS
    assert len(found.listed.starts_s) == LISTED
    assert all(len(each.shares) <= 402 for each in found.distributions.values())
    time = found.over_time
    assert (time.requests_per_s * time.bin_s).sum() == pytest.approx(100_000)
    assert (time.input_tokens_per_s * time.bin_s).sum() == pytest.approx(10_000_000)
    assert time.preempted.sum() == pytest.approx(50_000)
    assert time.kv_usage.high.max() == 0.9
    assert time.latency["ttft_s"].count.sum() == 100_000
    assert found.held is not None


def test_a_run_of_one_request_and_one_step_has_an_overview() -> None:
    found = overview_of(run_of(1, 1))
    assert found.over_time.latency["e2e_s"].values["worst"].tolist() == [1.0]
    assert found.distributions.keys() == {"ttft_s", "tpot_s", "queue_s", "e2e_s"}
