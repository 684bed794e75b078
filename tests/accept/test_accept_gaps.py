"""The gaps of requests taken in another order, and percentiles over many of each, some entries at a time."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from queued_trials import queued_trial
from vramledger.accept import gaps
from vramledger.accept.gaps import RequestGaps
from vramledger.methods.measured.contract import all_gaps, counted_gaps
from vramledger.record.run import read_run
from vramledger.statistics import estimate

PER_REQUEST = st.lists(st.lists(st.integers(0, 50), max_size=5), min_size=1, max_size=30)


def flat(of: list[list[int]]) -> RequestGaps:
    us = np.array([each for request in of for each in request], np.int32)
    return RequestGaps(us, np.array([len(request) for request in of], np.int64))


@given(PER_REQUEST, st.integers(1, 7), st.data())
def test_taken_are_those_of_the_requests_named(
    of: list[list[int]], rows: int, data: st.DataObject
) -> None:
    order = data.draw(st.lists(st.integers(0, len(of) - 1), max_size=40))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gaps, "ROWS", rows)
        found = flat(of).taken(np.array(order, np.int64))
    assert (found.us.tolist(), found.counts.tolist()) == (
        [each for place in order for each in of[place]],
        [len(of[place]) for place in order],
    )


@given(PER_REQUEST, st.integers(1, 7), st.floats(0.01, 1))
def test_a_percentile_of_many_values_an_entry_is_that_of_all_of_them(
    of: list[list[int]], entries: int, share: float
) -> None:
    told = flat(of)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(estimate, "_ENTRIES", entries)
        found = estimate.percentile_of(told.us, share, told.counts.astype(np.float64))
        if found is None:
            assert not len(told.us)
            return
        kept = estimate._kept(told.us, found.value, told.counts.astype(np.float64))
    assert found.value == float(np.quantile(told.us, share, method="inverted_cdf"))
    assert kept.tolist() == [sum(each <= found.value for each in request) for request in of]


def test_gaps_by_length_are_the_gaps_of_the_run(tmp_path: Path) -> None:
    run = read_run(queued_trial(tmp_path / "run", count=120))
    one_by_one, by_length = all_gaps(run), counted_gaps(run)
    assert len(one_by_one.seconds) > len(by_length.seconds) > 1
    for share in (0.01, 0.5, 0.95, 0.99, 1.0):
        assert one_by_one.at(share) == by_length.at(share)
    assert one_by_one.events.sum() == by_length.events.sum()
