"""Exports have every field that AIPerf 0.13 and GuideLLM 0.8 insist on, and no null where they allow none.

The names are copied from their schemas; `scripts/read_exports.py` has their own readers read exports.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from recorded_runs import measured_request
from recorded_trials import described
from vramledger.record.outcome import Outcome
from vramledger.record.recorded_run import RecordedRun
from vramledger.record.run import read_run
from vramledger.report.trial_export.registry import write_export
from vramledger.trial.conduct.summary import summarise

AIPERF_METADATA: dict[str, type] = {
    "session_num": int,
    "request_start_ns": int,
    "request_end_ns": int,
    "worker_id": str,
    "record_processor_id": str,
    "benchmark_phase": str,
    "turn_index": int,
    "x_correlation_id": str,
}
DISTRIBUTION = ("mean", "median", "mode", "variance", "std_dev", "min", "max", "count", "total_sum")
PERCENTILES = ("p001", "p01", "p05", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p999")
GUIDELLM_SCHEDULER = (
    "start_time", "request_start_time", "measure_start_time", "measure_end_time", "request_end_time", "end_time",
    "queued_time_avg", "resolve_start_delay_avg", "resolve_targeted_start_delay_avg", "request_start_delay_avg",
    "request_targeted_start_delay_avg", "request_time_avg", "resolve_end_delay_avg", "resolve_time_avg",
    "finalized_delay_avg", "processed_delay_avg",
)  # fmt: skip
GUIDELLM_METRICS = (
    "requests_per_second", "request_concurrency", "request_latency", "request_streaming_iterations_count",
    "prompt_token_count", "output_token_count", "total_token_count", "time_to_first_token_ms",
    "time_to_first_output_token_ms", "time_per_output_token_ms", "inter_token_latency_ms",
    "time_to_last_round_trip_ms", "avg_round_trip_time_ms", "prompt_tokens_per_second", "output_tokens_per_second",
    "tokens_per_second", "output_tokens_per_iteration", "iter_tokens_per_iteration",
)  # fmt: skip
GUIDELLM_KINDS = {
    "text": {"tokens", "words", "characters"},
    "image": {"tokens", "images", "pixels", "bytes"},
    "video": {"tokens", "frames", "seconds", "bytes"},
    "audio": {"tokens", "samples", "seconds", "bytes"},
    "tool_call": {"tokens", "mixed_tokens", "count"},
}
NOTHING_CAME: dict[str, Any] = dict.fromkeys(
    ("first_content_s", "first_answer_s", "last_content_s", "chunk_offset_us", "chunk_tokens", "output_tokens_got",
     "tokens_basis", "headers_s", "first_byte_s")
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two requests of one conversation, one of uneven gaps, one never sent, and one that the run's end cut."""
    with RecordedRun.start(tmp_path / "run", described()) as run:
        run.note(10.0, "phase", name="measured", load_zero_s=10.0, position_s=0.0)
        run.append(measured_request(0, 10.0, (0, 10_000), session=7, input_tokens_got=100))
        run.append(measured_request(1, 11.0, (0, 20_000, 60_000), session=7, input_tokens_got=50))
        refused = {
            "dispatched_s": None,
            "outcome": Outcome.FAILED,
            "error_class": "connect_refused",
            "input_tokens_asked": 9,
        }
        run.append(measured_request(2, 12.0, (0,), **NOTHING_CAME | refused))
        cut = {"done_s": None, "outcome": Outcome.INCOMPLETE, "error_class": "run_ended"}
        run.append(measured_request(3, 13.0, (0, 5_000), **cut))
        run.note(15.0, "phase", name="drained", how="complete")
    for name in ("aiperf", "guidellm"):
        write_export(summarise(read_run(tmp_path / "run")), name, tmp_path / name)
    return tmp_path


def records(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "aiperf" / "profile_export.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def benchmark(folder: Path) -> dict[str, Any]:
    report = json.loads((folder / "guidellm" / "benchmarks.json").read_text())
    assert report["config"]["spec"]["data"] == [{"kind": "parquet_file", "path": "w.parquet"}]
    found: dict[str, Any] = report["benchmarks"][0]
    return found


def test_an_aiperf_record_has_what_aiperf_insists_on(folder: Path) -> None:
    for record in records(folder):
        for name, kind in AIPERF_METADATA.items():
            assert type(record["metadata"][name]) is kind, name
        for metric in record["metrics"].values():
            assert set(metric) == {"value", "unit"}
            assert metric["value"] is not None


def test_aiperf_can_put_the_turns_of_a_conversation_in_order(folder: Path) -> None:
    told = [record["metadata"] for record in records(folder)]
    assert [each["turn_index"] for each in told] == [0, 1, 0, 0]
    assert [each["x_correlation_id"] for each in told] == [
        "session-7", "session-7", "request-2", "request-3",
    ]  # fmt: skip


def test_a_request_that_was_never_sent_begins_when_it_was_due_and_a_cut_one_ends_with_the_run(
    folder: Path,
) -> None:
    zero_ns = 1_796_119_200_000_000_000
    *_, refused, cut = records(folder)
    assert refused["metadata"]["request_start_ns"] == zero_ns + 12_000_000_000
    assert refused["metrics"] == {"error_isl": {"value": 9, "unit": "tokens"}}
    assert refused["error"]["code"] is None
    assert cut["metadata"]["request_end_ns"] == zero_ns + 15_000_000_000
    timings = benchmark(folder)["requests"]["incomplete"][0]["info"]["timings"]
    assert timings["resolve_end"] == pytest.approx(zero_ns / 1e9 + 15)


def test_aiperf_counts_to_the_last_token_and_between_values(folder: Path) -> None:
    whole = json.loads((folder / "aiperf" / "profile_export_aiperf.json").read_text())
    assert whole["schema_version"] == "1.4"
    latency = whole["request_latency"]
    assert (latency["min"], latency["max"]) == (pytest.approx(510), pytest.approx(560))
    assert latency["p50"] == pytest.approx(535)
    assert latency["std"] == pytest.approx(25)
    gaps = whole["inter_chunk_latency"]
    assert (gaps["count"], gaps["sum"]) == (3, pytest.approx(70))
    assert whole["time_to_second_token"]["avg"] == pytest.approx(15)
    assert whole["benchmark_duration"]["avg"] == pytest.approx(1.56)
    assert whole["output_token_throughput"]["avg"] == pytest.approx(5 / 1.56)


def test_a_guidellm_report_has_every_figure_that_guidellm_insists_on(folder: Path) -> None:
    found = benchmark(folder)
    assert all(isinstance(found["scheduler_metrics"][name], float) for name in GUIDELLM_SCHEDULER)
    metrics = found["metrics"]
    for name in GUIDELLM_METRICS:
        assert set(metrics[name]) == {"successful", "errored", "incomplete", "total"}, name
        for told in metrics[name].values():
            assert all(isinstance(told[each], int | float) for each in DISTRIBUTION), name
            assert all(isinstance(told["percentiles"][each], float) for each in PERCENTILES), name
    for name, keys in GUIDELLM_KINDS.items():
        assert set(metrics[name]) == keys


def test_guidellm_weights_gaps_by_tokens_and_rates_by_time(folder: Path) -> None:
    metrics = benchmark(folder)["metrics"]
    gap = metrics["inter_token_latency_ms"]["successful"]
    assert (gap["count"], gap["mean"]) == (3, pytest.approx((10 + 2 * 30) / 3))
    seconds = 13.506 - 10.001  # from the first that was sent to the last token that came
    assert benchmark(folder)["duration"] == pytest.approx(seconds)
    rate = metrics["output_tokens_per_second"]["successful"]
    assert rate["mean"] == pytest.approx(5 / seconds)
    assert metrics["request_concurrency"]["total"]["max"] == 1
    assert metrics["request_scheduled_latency"]["successful"]["count"] == 2


def test_guidellm_counts_turns_and_tokens_of_texts(folder: Path) -> None:
    told = benchmark(folder)["requests"]["successful"]
    assert [each["info"]["turn_index"] for each in told] == [0, 1]
    assert told[1]["output_metrics"] == {"text_tokens": 3}
    assert told[1]["input_metrics"] == {"text_tokens": 50, "cached_tokens": None}


@pytest.mark.parametrize("sent_s", [None, 12.001])
def test_a_trial_of_failures_alone_is_exported_with_nothing_in_its_distributions(
    tmp_path: Path, sent_s: float | None
) -> None:
    with RecordedRun.start(tmp_path / "run", described()) as run:
        run.note(10.0, "phase", name="measured", load_zero_s=10.0, position_s=0.0)
        failed = {
            "dispatched_s": sent_s,
            "outcome": Outcome.FAILED,
            "error_class": "connect_refused",
        }
        run.append(measured_request(0, 12.0, (0,), **NOTHING_CAME | failed))
        run.note(15.0, "phase", name="drained", how="complete")
    for name in ("aiperf", "guidellm", "llm-d"):
        write_export(summarise(read_run(tmp_path / "run")), name, tmp_path / name)
    whole = json.loads((tmp_path / "aiperf" / "profile_export_aiperf.json").read_text())
    assert (whole["request_count"]["avg"], whole["error_request_count"]["avg"]) == (0, 1)
    assert "request_throughput" not in whole
    metrics = benchmark(tmp_path)["metrics"]
    assert metrics["request_totals"] == {"successful": 0, "errored": 1, "incomplete": 0, "total": 1}
    assert metrics["time_to_first_token_ms"]["total"]["count"] == 0


def test_a_trial_that_was_stopped_before_its_first_request_is_exported_empty(
    tmp_path: Path,
) -> None:
    with RecordedRun.start(tmp_path / "run", described()) as run:
        run.note(1.0, "phase", name="warm_up")
    for name in ("aiperf", "guidellm", "llm-d"):
        write_export(summarise(read_run(tmp_path / "run")), name, tmp_path / name)
    assert records(tmp_path) == []
    found = benchmark(tmp_path)
    assert (found["duration"], found["metrics"]["request_totals"]["total"]) == (0, 0)
