"""Scenarios follow their written definitions, checked against a plain walk over every second."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.workload import scenarios
from vramledger.workload.scenarios import NotFound, Seconds, Span, long_input, window, windows

MONDAY_NINE = 9 * 3600
Counts = Mapping[int, tuple[int, int]]  # second -> (tokens, tokens of long inputs)


def table(counts: Counts) -> Seconds:
    at = sorted(counts)
    return Seconds(
        np.array(at, np.int64),
        np.ones(len(at), np.int64),
        np.array([counts[second][0] for second in at], np.int64),
        np.array([counts[second][1] for second in at], np.int64),
    )


def one_span(name: str, counts: Counts, offset: int | None = None) -> Span:
    (span,) = window(name, table(counts), offset).spans
    return span


def held(counts: Counts, start: int, length: int, which: int) -> int:
    return sum(of[which] for second, of in counts.items() if start <= second < start + length)


def heaviest_by_walking(counts: Counts, length: int, which: int) -> int:
    covered = max(counts) + 1
    starts = [min(second, covered - length) for second in sorted(counts)]
    return max(starts, key=lambda start: (held(counts, start, length, which), -start))


def busy_hour_by_walking(counts: Counts) -> int:
    hours = (max(counts) + 1) // 3600
    tokens = [held(counts, 3600 * hour, 3600, 0) for hour in range(hours)]
    mean = sum(tokens) / hours
    busy = sorted((of, hour) for hour, of in enumerate(tokens) if of >= mean / 2)
    return busy[(len(busy) - 1) // 2][1] * 3600


logs = st.dictionaries(
    st.integers(0, 30_000), st.tuples(st.integers(1, 50), st.integers(0, 9)), min_size=1
).map(lambda counts: counts | {0: (1, 1)})


@given(logs)
def test_peak_and_long_burst_are_the_heaviest_windows(counts: Counts) -> None:
    covered = max(counts) + 1
    for name, length, which in (("peak", 900, 0), ("long-burst", 300, 1)):
        start = heaviest_by_walking(counts, length, which) if covered >= length else 0
        assert one_span(name, counts) == Span(start, start + min(length, covered))


@given(logs)
def test_no_window_at_all_is_heavier_than_the_peak(counts: Counts) -> None:
    span = one_span("peak", counts)
    most = held(counts, span.start_s, span.seconds, 0)
    if span.seconds == 900:
        starts = {max(0, second + side) for second in counts for side in (-899, -450, 0)}
        assert all(held(counts, s, 900, 0) <= most for s in starts if s + 900 <= max(counts) + 1)


@given(logs)
def test_the_daily_hour_is_the_lower_median_of_the_busy_full_hours(counts: Counts) -> None:
    covered = max(counts) + 1
    start = busy_hour_by_walking(counts) if covered >= 3600 else 0
    assert one_span("daily", counts) == Span(start, start + min(3600, covered))


@given(logs, st.integers(0, 7 * 24 * 60 - 1).map(lambda minute: 60 * minute))
def test_day_and_night_part_every_second_of_the_log(counts: Counts, offset: int) -> None:
    spans = {}
    for name in ("day", "night"):
        try:
            spans[name] = window(name, table(counts), offset).spans
        except NotFound:
            spans[name] = ()
    for second in counts:
        hour = (second + offset) % 86_400 // 3600
        name = "day" if 8 <= hour < 20 else "night"
        inside = {
            key: any(span.start_s <= second < span.end_s for span in found)
            for key, found in spans.items()
        }
        assert inside == {"day": name == "day", "night": name == "night"}


def test_of_equal_windows_the_earliest_is_taken() -> None:
    counts = {0: (5, 0), 2000: (5, 0), 4000: (5, 0)}
    assert one_span("peak", counts) == Span(0, 900)


def test_quiet_hours_do_not_pull_the_daily_hour_down() -> None:
    hours = [1000, 1, 1, 1, 900, 800]
    counts = {3600 * hour: (tokens, 0) for hour, tokens in enumerate(hours)} | {21_599: (0, 0)}
    assert one_span("daily", counts) == Span(4 * 3600, 5 * 3600)


def test_an_hour_that_the_log_only_begins_is_not_the_daily_one() -> None:
    counts = {0: (10, 0), 3600: (10_000, 0)}
    assert one_span("daily", counts) == Span(0, 3600)


def test_a_log_shorter_than_a_window_is_its_own_window_and_says_so() -> None:
    found = window("daily", table({0: (5, 0), 99: (5, 0)}), None)
    assert found.spans == (Span(0, 100),)
    assert found.note == "The log covers 100 s, less than an hour; all of it is taken."


def test_a_log_without_tokens_counts_requests_and_says_so() -> None:
    counts = {0: (0, 0), 1000: (0, 0), 1001: (0, 0)}
    found = window("peak", table(counts), None)
    assert found.spans == (Span(102, 1002),)
    assert found.note == "The log has no token counts; requests are counted instead."


def test_what_a_log_does_not_have_is_said_by_name() -> None:
    found = windows(table({0: (5, 0), 5000: (5, 0)}), None)
    assert [each.name for each in found.windows] == ["daily", "peak", "tail"]
    assert found.unknown == {
        "long-burst": "No input of the log is above its 95th percentile.",
        "day": "The log has no clock, so the hour of the day is not known; import it from logs "
        "with dates.",
        "night": "The log has no clock, so the hour of the day is not known; import it from logs "
        "with dates.",
    }


def test_a_log_without_times_has_a_tail_alone() -> None:
    found = windows(None, MONDAY_NINE)
    assert [each.name for each in found.windows] == ["tail"]
    assert set(found.unknown.values()) == {
        "The log has no times; import it from logs that tell when requests came."
    }


def test_a_log_of_one_morning_has_no_night() -> None:
    with pytest.raises(NotFound, match=r"^No request of the log arrives from 20:00 to 08:00\.$"):
        window("night", table({0: (5, 0), 100: (5, 0)}), MONDAY_NINE)


def test_a_week_has_seven_days_of_twelve_hours() -> None:
    counts = {hour * 3600: (1, 0) for hour in range(7 * 24)} | {7 * 86_400 - 1: (1, 0)}
    found = window("day", table(counts), 0)
    assert found.spans == tuple(
        Span(86_400 * day + 8 * 3600, 86_400 * day + 20 * 3600) for day in range(7)
    )
    assert found.seconds == 7 * 12 * 3600


@given(st.lists(st.integers(0, 40), min_size=1, max_size=200))
def test_long_inputs_are_those_above_the_interpolated_percentile(inputs: Sequence[int]) -> None:
    lengths, requests = np.unique(np.array(inputs, np.int64), return_counts=True)
    bound = long_input(lengths, requests)
    p95 = float(np.percentile(inputs, 95))
    assert [n > bound for n in inputs] == [n - p95 > 1e-9 for n in inputs]


def test_every_scenario_has_a_definition_and_a_finder() -> None:
    assert set(scenarios.DEFINITIONS) == {*scenarios._FINDERS, "tail"}
