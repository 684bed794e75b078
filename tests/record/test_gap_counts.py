"""Percentiles of gaps that are only counted are those of all gaps laid out."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.record import gap_counts
from vramledger.record.gap_counts import GapCounts
from vramledger.record.latency import gaps_s
from vramledger.trial.conduct.detail import detail, detail_of_gaps
from vramledger.trial.conduct.spread import spread, spread_of_gaps

STREAMS = st.lists(st.lists(st.integers(0, 40), max_size=12), min_size=1, max_size=6)


def offsets(streams: list[list[int]]) -> pa.Array:
    return pa.array([np.cumsum([0, *each]).tolist() for each in streams], pa.list_(pa.int64()))


@given(STREAMS)
def test_counted_gaps_have_the_figures_of_all_gaps(streams: list[list[int]]) -> None:
    found = GapCounts()
    for each in streams:  # piece by piece
        found.add(offsets([each]))
    laid_out, counted = gaps_s(offsets(streams)), found.counted()
    assert len(counted) == len(laid_out)
    one, other = spread(laid_out), spread_of_gaps(counted)
    assert (one.p50, one.p95, one.p99, one.max) == (other.p50, other.p95, other.p99, other.max)
    assert other.mean == pytest.approx(one.mean)
    for method in ("linear", "inverted_cdf"):
        whole, parts = detail(laid_out, method), detail_of_gaps(counted, method)
        if whole is None or parts is None:
            assert whole is parts
            continue
        assert parts.percentiles == pytest.approx(whole.percentiles)
        assert (parts.mode, parts.min, parts.max) == (whole.mode, whole.min, whole.max)
        assert (parts.mean, parts.std) == pytest.approx((whole.mean, whole.std))


def test_equal_gaps_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gap_counts, "_HELD", 3)
    found = GapCounts()
    for _ in range(50):
        found.add_us(np.asarray([1, 2, 3]))
    counted = found.counted()
    assert (counted.values_us.tolist(), counted.counts.tolist()) == ([1, 2, 3], [50, 50, 50])
    more = counted.with_zeros(4).joined(np.asarray([3, 9]))
    assert (more.values_us.tolist(), more.counts.tolist()) == ([0, 1, 2, 3, 9], [4, 50, 50, 51, 1])
    assert more.with_zeros(1).counts.tolist() == [5, 50, 50, 51, 1]
    assert counted.with_zeros(0) is counted
