from pathlib import Path

from timing_fit.measured_run import meta_files, read_run
from timing_fit.per_request import calibrated_runs, missed_by_runs
from vramledger.simulate.timing.coefficients import shipped


def test_measured_runs_are_within_their_targets_after_their_first_third(shared_data: Path) -> None:
    runs = calibrated_runs(shared_data / "perf", shipped().coefficients)
    assert {outcome.third for outcome in runs.outcomes} == {"time", "requests"}
    assert list(missed_by_runs(runs)) == []


def test_a_run_is_read_with_its_pool_or_with_the_ledgers(shared_data: Path) -> None:
    runs = [read_run(file) for file in meta_files(shared_data / "perf")]
    for run in runs:
        assert len(run.observed) == 300
        assert run.settings.rules.whole_prompt_admission
        assert run.settings.async_scheduling
    recorded = {run.name: run.pool_from for run in runs}
    assert recorded["RTX4090 Llama-3.1-8B"] == "recorded, 2,588 blocks"
    assert recorded["RTXPRO6000 Qwen3-32B"].startswith("ledger, ")
