"""Requests in the system over time, against a count at many moments."""

from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.methods.simulated.in_system import InSystem, in_system

times = st.integers(0, 200).map(lambda tick: tick / 10)


@given(st.lists(st.tuples(times, st.none() | times), min_size=2, max_size=20))
def test_the_mean_and_the_percentile_are_those_of_counts_at_many_moments(
    requests: list[tuple[float, float | None]],
) -> None:
    requests.sort(key=lambda request: request[0])
    due = np.array([at for at, _ in requests])
    done = np.array([nan if stay is None else at + stay for at, stay in requests])
    found = in_system(due, done)
    if due[0] == due[-1]:
        assert found == InSystem(None, None)
        return
    moments = np.arange(round(due[0] * 10), round(due[-1] * 10)) / 10 + 0.05  # between the ticks
    ends = np.where(np.isnan(done), np.inf, done)
    counts = np.array([((due <= at) & (at < ends)).sum() for at in moments])
    assert found.mean == pytest.approx(counts.mean())
    assert found.p99 == np.sort(counts)[int(np.ceil(0.99 * len(counts))) - 1]
