"""The seconds that are looked at closely decide as all seconds would."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vramledger.workload.profile import arrival_counts
from vramledger.workload.scenarios import Seconds, windows


def every_second(seed: int, covered: int, requests: int, spread: float) -> Seconds:
    draw = np.random.default_rng(seed)
    times = np.sort(draw.integers(0, covered, requests))
    given = np.maximum(1, draw.lognormal(6, spread, requests)).astype(np.int64)
    second, places = np.unique(times - times[0], return_inverse=True)
    columns = [np.zeros(len(second), np.int64) for _ in range(3)]
    for column, each in zip(columns, (given // given, given, given * (given > 900)), strict=True):
        np.add.at(column, places, each)
    return Seconds(second, *columns)


def stepped(seconds: Seconds) -> Seconds:
    second, places = np.unique(seconds.second // arrival_counts.STEP_S, return_inverse=True)
    columns = [np.zeros(len(second), np.int64) for _ in range(3)]
    for column, name in zip(columns, ("requests", "tokens", "long_tokens"), strict=True):
        np.add.at(column, places, getattr(seconds, name))
    return Seconds(second * arrival_counts.STEP_S, *columns)


def part(seconds: Seconds, spans: list[tuple[int, int]]) -> Seconds:
    inside = np.zeros(len(seconds.second), bool)
    for start, end in spans:
        inside |= (seconds.second >= start) & (seconds.second < end)
    names = ("second", "requests", "tokens", "long_tokens")
    return Seconds(*(getattr(seconds, name)[inside] for name in names))


def looked_closely(seconds: Seconds) -> Seconds:
    steps = stepped(seconds)
    found, looked_at = steps, arrival_counts.Steps()
    while look := arrival_counts.undecided(steps, found, looked_at):
        spans = arrival_counts.spans_of(look)
        found = arrival_counts.spliced(found, part(seconds, spans), spans)
        looked_at |= look
    return found


@settings(max_examples=200)
@given(
    st.integers(0, 2**32),
    st.integers(1, 8000),
    st.integers(1, 900),
    st.floats(0, 2.5),
    st.one_of(st.none(), st.integers(0, 7 * 1440 - 1)),
)
def test_scenarios_are_those_of_all_seconds(
    seed: int, covered: int, requests: int, spread: float, minute: int | None
) -> None:
    seconds = every_second(seed, covered, requests, spread)
    offset = None if minute is None else minute * 60
    assert windows(looked_closely(seconds), offset) == windows(seconds, offset)


def test_most_seconds_of_a_long_log_are_not_looked_at() -> None:
    seconds = every_second(1, 400_000, 400_000, 1.0)
    assert len(looked_closely(seconds).second) < len(stepped(seconds).second) * 1.05
