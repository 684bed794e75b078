"""AIPerf's files: ``profile_export.jsonl``, a request a line, and ``profile_export_aiperf.json``, the aggregate.

https://docs.nvidia.com/aiperf/tutorials/metrics-analysis/working-with-profile-export-files and
https://docs.nvidia.com/aiperf/reference/json-export-schema; fields that are unset are left out of the aggregate there.
"""

import itertools
import json
from collections.abc import Iterator
from typing import Any, Final

from vramledger.record.outcome import Outcome
from vramledger.report.trial_export.export_file import ExportFile, json_file
from vramledger.trial.conduct.detail import Detail, detail
from vramledger.trial.conduct.sent import Sent, WallClock, rows, sent
from vramledger.trial.conduct.summary import Summary

_MS: Final = 1e3
_STATS: Final = {
    0.01: "p1", 0.05: "p5", 0.1: "p10", 0.25: "p25", 0.5: "p50", 0.75: "p75", 0.9: "p90", 0.95: "p95", 0.99: "p99",
}  # fmt: skip


def aiperf_files(found: Summary) -> Iterator[ExportFile]:
    """Both files."""
    yield ExportFile("profile_export.jsonl", _records(found))
    yield json_file("profile_export_aiperf.json", _aggregate(found))


def _records(found: Summary) -> Iterator[str]:
    clock = WallClock(found.run)
    sentences = {each.name: each.sentence for each in found.errors}
    for row in rows(found.run):
        ok = row["outcome"] == Outcome.OK
        record = {
            "metadata": _metadata(row, clock),
            "metrics": _metrics(row) if ok else _failed_metrics(row),
            "error": None if ok else _error(row, sentences),
        }
        yield json.dumps(record) + "\n"


def _metadata(row: dict[str, Any], clock: WallClock) -> dict[str, Any]:
    cancelled = row["outcome"] == Outcome.CANCELLED
    ended = clock.ns(row["done_s"])
    return {
        "session_num": row["request_id"],
        "x_request_id": row["server_request_id"],
        "x_correlation_id": None,
        "conversation_id": None if row["session"] is None else str(row["session"]),
        "turn_index": None,
        "request_start_ns": clock.ns(row["dispatched_s"]),
        "request_ack_ns": clock.ns(row["headers_s"]),
        "request_end_ns": ended,
        "worker_id": None,
        "record_processor_id": None,
        "benchmark_phase": "profiling",
        "was_cancelled": cancelled,
        "cancellation_time_ns": ended if cancelled else None,
    }


def _metrics(row: dict[str, Any]) -> dict[str, Any]:
    """Of a success; what needs more tokens than came is left out."""
    start, first, last = row["dispatched_s"], row["first_content_s"], row["last_content_s"]
    tokens, offsets = row["output_tokens_got"], row["chunk_offset_us"] or []
    told: dict[str, tuple[Any, str]] = {
        "input_sequence_length": (row["input_tokens_got"], "tokens"),
        "output_sequence_length": (tokens, "tokens"),
        "request_latency": ((row["done_s"] - start) * _MS, "ms"),
        "time_to_first_token": (None if first is None else (first - start) * _MS, "ms"),
    }
    if first is not None and tokens is not None and tokens > 1:
        gap = (last - first) / (tokens - 1)
        told["inter_token_latency"] = (gap * _MS, "ms")
        told["output_token_throughput_per_user"] = (1 / gap if gap else None, "tokens/sec/user")
    if len(offsets) > 1:
        gaps = [(b - a) / _MS for a, b in itertools.pairwise(offsets)]
        told["inter_chunk_latency"] = (gaps, "ms")
    return {
        name: {"value": value, "unit": unit}
        for name, (value, unit) in told.items()
        if value is not None
    }


def _failed_metrics(row: dict[str, Any]) -> dict[str, Any]:
    asked = row["input_tokens_asked"]
    return {} if asked is None else {"error_isl": {"value": asked, "unit": "tokens"}}


def _error(row: dict[str, Any], sentences: dict[str, str]) -> dict[str, Any]:
    name = row["error_class"] or row["outcome"]
    return {"code": row["http_status"], "type": name, "message": sentences.get(name, name)}


def _aggregate(found: Summary) -> dict[str, Any]:
    figures = sent(found.run)
    about = found.description
    told = {**_of_requests(figures), **_of_all(found, figures)}
    return {
        **{name: block for name, block in told.items() if block is not None},
        "origin": about.origin.value,
        "input_config": None,
        "was_cancelled": found.story.interrupted,
        "error_summary": [
            {
                "error_details": {"code": None, "type": each.name, "message": each.sentence},
                "count": each.count,
            }
            for each in found.errors
        ],
        "start_time": about.started_at,
        "end_time": about.ended_at,
    }


def _of_requests(figures: Sent) -> dict[str, dict[str, Any] | None]:
    ok = figures.of(Outcome.OK)
    return {
        "time_to_first_token": _block(detail(figures.ttft_s[ok] * _MS), "ms"),
        "request_latency": _block(detail(figures.latency_s[ok] * _MS), "ms"),
        "inter_token_latency": _block(detail(figures.tpot_s[ok] * _MS), "ms"),
        "input_sequence_length": _block(detail(figures.input_tokens[ok]), "tokens"),
        "output_sequence_length": _block(detail(figures.output_tokens[ok]), "tokens"),
    }


def _of_all(found: Summary, figures: Sent) -> dict[str, dict[str, Any] | None]:
    ok = figures.of(Outcome.OK)
    inputs, outputs = detail(figures.input_tokens[ok]), detail(figures.output_tokens[ok])
    rates = found.rates
    return {
        "request_count": _single(float(ok.sum()), "requests"),
        "error_request_count": _single(float(len(ok) - ok.sum()), "requests"),
        "request_throughput": _single(rates.requests_per_s, "requests/sec"),
        "output_token_throughput": _single(rates.output_tokens_per_s, "tokens/sec"),
        "benchmark_duration": _single(rates.seconds, "sec"),
        "total_isl": _single(inputs.total if inputs else None, "tokens"),
        "total_osl": _single(outputs.total if outputs else None, "tokens"),
    }


def _single(value: float | None, unit: str) -> dict[str, Any] | None:
    return None if value is None else {"unit": unit, "avg": value}


def _block(found: Detail | None, unit: str) -> dict[str, Any] | None:
    if found is None:
        return None
    shares = {name: found.percentiles[share] for share, name in _STATS.items()}
    ends = {"min": found.min, "max": found.max, "std": found.std}
    return {"unit": unit, "avg": found.mean, **shares, **ends, "count": found.count, "sum": found.total}  # fmt: skip
