"""A run over time: no spike is lost, holes are holes, ITL percentiles are what they are said to be."""

from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorded_runs import UUID, described, measured_request, simulated_run, steps_of
from recorded_trials import page, small_trial
from vramledger.errors import CannotKnow
from vramledger.record.document import Origin
from vramledger.record.outcome import Outcome
from vramledger.record.recorded_run import RecordedRun
from vramledger.record.requests import RequestRecord
from vramledger.record.run import Run, read_run
from vramledger.record.samples import GpuSample
from vramledger.trial.conduct.timeline import timeline_of

HOUR_S = 3600.0
GIB = 1 << 30


def long_run(folder: Path) -> Run:
    """An hour with one request a minute, a burst of 40 within a second, and one page with a full cache."""
    with RecordedRun.start(folder, described(Origin.MEASURED)) as run:
        for number in range(60):
            run.append(measured_request(number, 60.0 * number, (0, 10_000)))
        for number in range(60, 100):
            run.append(measured_request(number, 1800.0 + number / 100, (0, 10_000)))
        run.append(measured_request(100, HOUR_S, (0, 10_000)))
        for second in range(0, 3600, 10):
            if not 900 < second < 1200:  # five minutes in which nobody looked
                full = second == 2000
                page(run, float(second), 0.0, (1.0 if full else 0.1,))
                run.append(GpuSample(float(second), UUID, used_bytes=(70 if full else 40) * GIB))
    return read_run(folder)


def test_no_spike_of_an_hour_is_lost(tmp_path: Path) -> None:
    found = timeline_of(long_run(tmp_path / "run"))
    assert found.offered_per_s.high.max() >= 40
    assert found.offered_per_s.mean.max() < 10
    assert found.in_flight.high.max() == 40
    assert found.levels["kv_usage"].high[~np.isnan(found.levels["kv_usage"].high)].max() == 1.0
    gpu = found.gpu_bytes[UUID].high
    assert gpu[~np.isnan(gpu)].max() == 70 * GIB


def test_a_time_in_which_nobody_looked_is_a_hole(tmp_path: Path) -> None:
    found = timeline_of(long_run(tmp_path / "run"))
    middles = (found.edges_s[1:] + found.edges_s[:-1]) / 2
    unseen = (middles > 960) & (middles < 1180)
    for level in (found.levels["running"], found.gpu_bytes[UUID]):
        assert np.isnan(level.mean[unseen]).all()
        assert not np.isnan(level.mean[middles < 900]).any()
        assert not np.isnan(level.mean[(middles > 1220) & (middles < 3590)]).any()


def test_counters_that_fell_are_counted_on_and_the_warm_up_is_left_out(tmp_path: Path) -> None:
    found = timeline_of(read_run(small_trial(tmp_path / "run")))
    assert found.edges_s[0] == 10.0
    assert found.preempted is not None
    assert found.preempted.sum() == 3  # 5, 6, and after a restart 2
    assert found.offered_per_s.mean.sum() * np.diff(found.rate_edges_s)[0] == pytest.approx(4)
    assert np.isinf(found.latency["ttft_s"].values["worst"]).sum() == 1


def test_a_simulated_run_is_made_of_its_steps(tmp_path: Path) -> None:
    request = RequestRecord(
        0, due_s=0.0, dispatched_s=0.0, first_content_s=1.0, last_content_s=4.0, done_s=4.0,
        output_tokens_got=4, outcome=Outcome.OK, engine=0, first_step=0, last_step=3, queue_s=0.25,
    )  # fmt: skip
    found = timeline_of(simulated_run(tmp_path / "run", [request], steps_of([1.0, 2.0, 3.0, 4.0])))
    assert found.levels["running"].high.max() == 1
    assert found.levels["kv_usage"].mean.max() == 0.5
    assert found.latency["itl_s"].values["worst"].tolist() == [1.0] * 3
    assert found.distributions["queue_s"].values.max() == 0.25


def test_of_no_request_nothing_is_known(tmp_path: Path) -> None:
    run = simulated_run(tmp_path / "run", [], [])
    with pytest.raises(
        CannotKnow, match="has no request that counts, so nothing can be drawn of it"
    ):
        timeline_of(run)


@settings(max_examples=30, deadline=None)
@given(gaps=st.lists(st.integers(1, 10**9), min_size=1, max_size=60))
def test_percentiles_of_itl_are_at_most_a_class_above_the_true_ones(
    gaps: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("run") / "run"
    with RecordedRun.start(folder, described(Origin.MEASURED)) as run:
        run.append(measured_request(0, 0.0, tuple(accumulate(gaps, initial=0))))
    whole = timeline_of(read_run(folder)).distributions["itl_s"]
    assert whole.count == len(gaps)
    seconds = np.array(gaps) / 1e6
    for share in (0.5, 0.95, 1.0):
        true = float(np.quantile(seconds, share, method="inverted_cdf"))
        assert true * (1 - 1e-9) <= whole.at(share) <= true * 2 ** (1 / 64) * (1 + 1e-9)
