from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vramledger.workload.profile.bins import bin_of
from vramledger.workload.profile.frequency import Frequency, added_up

lengths = st.lists(st.integers(0, 2**30), min_size=1, max_size=60)


def table(values: list[int]) -> Frequency:
    counted = Counter(values)
    found = added_up(np.array(list(counted)), np.array(list(counted.values())))
    assert found is not None
    return found


@given(lengths, st.lists(st.floats(0, 100), min_size=1, max_size=20))
def test_quantiles_equal_numpy_to_the_last_digit(values: list[int], percents: list[float]) -> None:
    shares = [percent / 100 for percent in percents]
    assert table(values).quantiles(shares) == list(np.percentile(values, percents))


@given(lengths)
def test_named_percentiles_equal_numpy(values: list[int]) -> None:
    found = table(values).lengths()
    named = [
        found.p10,
        found.p25,
        found.p50,
        found.p75,
        found.p90,
        found.p95,
        found.p99,
        found.p999,
    ]
    assert named == list(np.percentile(values, [10, 25, 50, 75, 90, 95, 99, 99.9]))


@given(lengths)
def test_counts_and_bins_are_exact(values: list[int]) -> None:
    found = table(values).lengths()
    assert (found.count, found.total) == (len(values), sum(values))
    assert dict(found.bins) == Counter(bin_of(each) for each in values)


@given(lengths, st.integers(0, 2**30))
def test_above_counts_what_exceeds_a_limit(values: list[int], limit: int) -> None:
    assert table(values).above(limit) == sum(each > limit for each in values)
    assert table(values).times(limit) == values.count(limit)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1))
def test_repeated_values_are_added_up(pairs: list[tuple[int, int]]) -> None:
    values, counts = (np.array(each) for each in zip(*pairs, strict=True))
    found = added_up(values, counts)
    expected: Counter[int] = Counter()
    for value, count in pairs:
        expected[value] += count
    assert found is not None
    assert dict(zip(found.values.tolist(), found.counts.tolist(), strict=True)) == expected
    assert list(found.values) == sorted(expected)


def test_an_empty_table_is_none() -> None:
    assert added_up(np.zeros(0, np.int64), np.zeros(0, np.int64)) is None
