"""Gaps that are counted by length as they are read come to what all of them together do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.record.gap_counts import GapCounter, GapCounts

LENGTHS = st.one_of(
    st.integers(0, 200), st.integers(2**20 - 2, 2**20 + 2), st.integers(-3, 2**31 - 1)
)


def counted(parts: list[list[int]]) -> GapCounts:
    counter = GapCounter()
    for part in parts:
        counter.add(np.array(part, np.int64))
    return counter.found()


@given(
    st.lists(st.lists(LENGTHS, max_size=40), max_size=6),
    st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.05, 0.5, 0.95, 0.99, 1.0])),
)
def test_every_percentile_is_that_of_all_gaps_together(
    parts: list[list[int]], share: float
) -> None:
    found, whole = counted(parts), np.array([each for part in parts for each in part], np.int64)
    assert found.count == len(whole)
    assert np.repeat(found.us, found.counts).tolist() == np.sort(whole).tolist()
    if not len(whole):
        assert (found.at(share), found.mean_s) == (None, None)
        return
    assert found.at(share) == float(np.quantile(whole / 1e6, share, method="inverted_cdf"))
    assert found.mean_s == pytest.approx(float((whole / 1e6).mean()), rel=1e-12, abs=1e-15)
    assert found.seconds.tolist() == np.unique(whole / 1e6).tolist()


def test_more_gaps_of_a_length_than_an_array_holds_bytes_cost_no_more_than_one() -> None:
    found = counted([[20_000] * 1000] * 50)
    assert (found.us.tolist(), found.counts.tolist()) == ([20_000], [50_000])
