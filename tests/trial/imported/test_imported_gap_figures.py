"""Percentiles of gaps that are only counted are those of all gaps laid out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.record.gap_counts import GapCounter
from vramledger.trial.conduct.detail import detail
from vramledger.trial.imported.gap_figures import detail_of_gaps, with_more

GAPS = st.lists(st.integers(0, 40), max_size=60)


@given(GAPS, GAPS, st.integers(0, 9))
def test_counted_gaps_have_the_figures_of_all(some: list[int], more: list[int], zeros: int) -> None:
    counter = GapCounter()
    counter.add(np.asarray(some, dtype=np.int64))
    found = with_more(counter.found(), np.asarray(more, np.int64), np.ones(len(more), np.int64))
    found = with_more(found, np.zeros(1, np.int64), np.asarray([zeros], np.int64))
    whole = detail(np.asarray([*some, *more, *[0] * zeros], float) / 1e6, "linear")
    parts = detail_of_gaps(found)
    if whole is None or parts is None:
        assert whole is parts
        return
    assert parts.count == whole.count
    assert parts.percentiles == pytest.approx(whole.percentiles)
    assert (parts.mode, parts.min, parts.max) == (whole.mode, whole.min, whole.max)
    assert (parts.mean, parts.std) == pytest.approx((whole.mean, whole.std))
