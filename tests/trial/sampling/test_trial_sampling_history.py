"""Reading back: counters over restarts, quantiles of histograms, what was left out filled in."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorded_runs import described
from vramledger.errors import BadInput
from vramledger.record.document import Origin
from vramledger.record.recorded_run import RecordedRun
from vramledger.record.run import Run, read_run
from vramledger.record.samples import MetricKind, Sample
from vramledger.trial.sampling.history import (
    bucket_counts,
    increase,
    quantile,
    read_histories,
)


def recorded(folder: Path, rows: list[Sample]) -> Run:
    with RecordedRun.start(folder / "run", described(Origin.MEASURED)) as run:
        for row in rows:
            run.append(row)
    return read_run(folder / "run")


def sample(t_s: float, name: str, value: float | None, labels: str = "{}") -> Sample:
    return Sample(t_s, "target-0", f"x:{name}", MetricKind.GAUGE, value, 0.01, name, labels)


@given(st.lists(st.lists(st.integers(0, 50), max_size=6), max_size=5))
def test_a_counter_grew_by_what_was_counted_between_restarts(lives: list[list[int]]) -> None:
    """Each life of a server counts from 0; what it had at its first page was counted since its start."""
    seen, wanted, last = [], 0.0, None
    for life in lives:
        count = 0
        for step in life:
            count += step
            if last is not None:
                wanted += count - last if count >= last else count
            last = count
            seen.append(float(count))
    assert increase(np.array(seen)) == wanted


def test_a_counter_leaves_out_what_was_not_seen() -> None:
    assert increase(np.array([math.nan, 5.0, math.nan, 8.0])) == 3.0
    assert increase(np.array([])) == 0.0
    assert increase(np.array([5.0, 9.0, 2.0, 3.0])) == 4.0 + 2.0 + 1.0


@given(
    st.lists(st.floats(0.01, 9.99), min_size=1, max_size=200),
    st.sampled_from([0.0, 0.25, 0.5, 0.95, 0.99, 1.0]),
)
def test_a_quantile_lies_in_the_bucket_that_holds_it(values: list[float], q: float) -> None:
    edges = [0.1, 0.5, 1.0, 5.0, 10.0, math.inf]
    counts = {edge: float(sum(value <= edge for value in values)) for edge in edges}
    found = quantile(q, counts)
    truth = sorted(values)[max(0, math.ceil(q * len(values)) - 1)]
    above = next(edge for edge in edges if truth <= edge)
    below = max((edge for edge in edges if edge < truth), default=0.0)
    assert found is not None
    assert below <= found <= above or (q == 0.0 and found <= above)


def test_a_quantile_beyond_the_last_edge_is_that_edge() -> None:
    assert quantile(0.9, {1.0: 5.0, math.inf: 10.0}) == 1.0
    assert quantile(0.5, {1.0: 0.0, math.inf: 0.0}) is None
    assert quantile(0.5, {2.0: 10.0, math.inf: 10.0}) == 1.0


def test_a_histogram_without_its_last_bucket_is_refused() -> None:
    with pytest.raises(BadInput) as refused:
        quantile(0.5, {1.0: 5.0})
    assert str(refused.value) == (
        "The histogram has no bucket +Inf; read its page as the server sends it."
    )


def test_what_was_left_out_is_filled_in_for_each_page_and_for_nothing_else(tmp_path: Path) -> None:
    rows = [
        *(sample(t_s, "up", 1.0) for t_s in (1.0, 2.0, 3.0, 8.0, 9.0)),
        sample(2.0, "preemptions", 5.0, '{"engine":"0"}'),
        sample(8.0, "preemptions", 7.0, '{"engine":"0"}'),
        sample(1.0, "preemptions", 1.0, '{"engine":"1"}'),
        sample(3.0, "preemptions", None, '{"engine":"1"}'),
        Sample(1.0, "target-1", "x:preemptions", MetricKind.COUNTER, 99.0, 0.1, "preemptions"),
    ]
    first, second = sorted(
        read_histories(recorded(tmp_path, rows), "preemptions", "target-0"),
        key=lambda history: history.labels,
    )
    assert first.t_s.tolist() == [1.0, 2.0, 3.0, 8.0, 9.0]
    np.testing.assert_array_equal(first.values, [math.nan, 5.0, 5.0, 7.0, 7.0])
    np.testing.assert_array_equal(second.values, [1.0, 1.0, math.nan, math.nan, math.nan])


def test_buckets_of_all_engines_are_added_up(tmp_path: Path) -> None:
    labels = [
        f'{{"engine":"{engine}","le":"{edge}"}}' for engine in "01" for edge in ("0.5", "+Inf")
    ]
    rows = [sample(t_s, "up", 1.0) for t_s in (1.0, 2.0)]
    rows += [sample(1.0, "ttft_s", 10.0, each) for each in labels]
    rows += [sample(2.0, "ttft_s", 13.0, each) for each in labels]
    histories = read_histories(recorded(tmp_path, rows), "ttft_s", "target-0")
    assert bucket_counts(histories) == {0.5: 6.0, math.inf: 6.0}
