import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

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


def _written(folder: Path, stem: str, **stated: Any) -> Path:
    """A run of two requests in the published form."""
    meta = {
        "model": "meta-llama/Llama-3.1-8B",
        "vllm_version": "0.19.0",
        "engine_kwargs": {"max_num_seqs": 128, "max_model_len": 8192, "seed": 42},
        "started_at": "2026-01-01T00:00:00Z",
    } | stated
    path = folder / f"lss_{stem}_meta.json"
    path.write_text(json.dumps(meta), encoding="utf-8")
    line = {
        "input_toks": 5,
        "output_toks": 3,
        "queued_ts": 7.5,
        "first_token_ts": 8,
        "last_token_ts": 9,
    }
    start = datetime(2026, 1, 1, tzinfo=UTC).timestamp()
    lines = [json.dumps(line | {"arrival_time": start + after}) for after in (0.25, 0.5)]
    (folder / f"lss_{stem}_vllm_requests.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return path


def test_the_files_name_tells_the_card_where_the_run_does_not(tmp_path: Path) -> None:
    run = read_run(_written(tmp_path, "RTXPRO6000_Llama"))
    assert run.deployment.accelerator.name == "RTX-PRO-6000-Server"
    run = read_run(_written(tmp_path, "H100_Llama"))
    assert run.deployment.accelerator.name == "H100-80GB-SXM"
    named = {"device_name": "NVIDIA GeForce RTX 4090"}
    assert (
        read_run(_written(tmp_path, "X", hardware=named)).deployment.accelerator.name == "RTX-4090"
    )


def test_settings_are_those_that_the_run_states(tmp_path: Path) -> None:
    pool = {"num_gpu_blocks": 999, "enable_prefix_caching": False, "block_size": 32}
    run = read_run(_written(tmp_path, "H100_Llama", kv_cache=pool))
    settings = run.settings
    assert (settings.num_blocks, settings.block_size, settings.max_num_seqs) == (999, 32, 128)
    assert not settings.prefix_caching
    assert settings.max_model_len == 8192


def test_the_pools_use_counts_from_the_first_arrival(tmp_path: Path) -> None:
    meta = _written(tmp_path, "H100_Llama")
    series = tmp_path / "lss_H100_Llama_timeseries.csv"
    series.write_text("t,kv_cache_pct\n1.0,0.0\n2.0,50\n", encoding="utf-8")
    read = read_run(meta).series
    assert read is not None
    assert read.moments_ns.tolist() == [750_000_000, 1_750_000_000]
    assert read.kv_usage.tolist() == [0, 0.5]
    series.write_text("t,kv_cache_pct\n1.0,0.0\n2.0,0.0\n", encoding="utf-8")
    assert read_run(meta).series is None


def test_a_run_on_an_unknown_card_is_named_among_what_was_missed(tmp_path: Path) -> None:
    _written(tmp_path, "TPUv6_Llama")
    (said,) = missed_by_runs(calibrated_runs(tmp_path, shipped().coefficients))
    assert said.startswith("lss_TPUv6_Llama_meta.json: Unknown GPU 'TPUv6'")
