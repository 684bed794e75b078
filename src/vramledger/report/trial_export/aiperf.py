"""AIPerf's files: ``profile_export.jsonl``, a request a line, and ``profile_export_aiperf.json``, the aggregate.

https://github.com/ai-dynamo/aiperf: `common/models/record_models.py` and `export_models.py` (schema 1.4), formulas in
`metrics/types/`. As there: latencies are of successes, from the sending to the last token; percentiles lie between two
values; rates are over the time from the first success sent to the last token of one; fields that are unset are left out
of the aggregate. A request that was never sent begins when it was due, one that had not ended when the run did ends then.
"""

import itertools
import json
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from vramledger.record.outcome import Outcome
from vramledger.report.trial_export.export_file import ExportFile, json_file
from vramledger.trial.conduct.detail import detail
from vramledger.trial.conduct.sent import Sent, WallClock, rows, sent
from vramledger.trial.conduct.streamed import chunk_gaps, streamed
from vramledger.trial.conduct.summary import Summary
from vramledger.trial.conduct.window import window_of

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

_MS: Final = 1e3
_SCHEMA: Final = "1.4"
_FAILED_STATUS: Final = 400
_WRITER: Final = "vramledger"  # a worker and a processor of records of theirs must have a name
_STATS: Final = {
    0.01: "p1", 0.05: "p5", 0.1: "p10", 0.25: "p25", 0.5: "p50", 0.75: "p75", 0.9: "p90", 0.95: "p95", 0.99: "p99",
}  # fmt: skip


def aiperf_files(found: Summary) -> Iterator[ExportFile]:
    """Both files."""
    yield ExportFile("profile_export.jsonl", _records(found))
    yield json_file("profile_export_aiperf.json", _aggregate(found))


def _records(found: Summary) -> Iterator[str]:
    clock, over_s = WallClock(found.run), window_of(found, sent(found.run)).ended_s
    sentences = {each.name: each.sentence for each in found.errors}
    turns: Counter[int] = Counter()
    for row in rows(found.run):
        ok = row["outcome"] == Outcome.OK
        record = {
            "metadata": _metadata(row, turns, over_s, clock),
            "metrics": _metrics(row) if ok else _failed_metrics(row),
            "error": None if ok else _error(row, sentences),
        }
        if row["session"] is not None:
            turns[row["session"]] += 1
        yield json.dumps(record) + "\n"


def _metadata(
    row: dict[str, Any], turns: Counter[int], over_s: float, clock: WallClock
) -> dict[str, Any]:
    cancelled, session = row["outcome"] == Outcome.CANCELLED, row["session"]
    ended = clock.ns(over_s if row["done_s"] is None else row["done_s"])
    never_sent = row["dispatched_s"] is None
    return {
        "session_num": row["request_id"],
        "x_request_id": row["server_request_id"],
        "x_correlation_id": f"request-{row['request_id']}" if session is None else f"session-{session}",
        "conversation_id": None if session is None else str(session),
        "turn_index": 0 if session is None else turns[session],
        "request_start_ns": clock.ns(row["due_s"] if never_sent else row["dispatched_s"]),
        "request_ack_ns": clock.ns(row["headers_s"]),
        "request_end_ns": ended,
        "worker_id": _WRITER,
        "record_processor_id": _WRITER,
        "benchmark_phase": "profiling",
        "was_cancelled": cancelled,
        "cancellation_time_ns": ended if cancelled else None,
    }  # fmt: skip


def _metrics(row: dict[str, Any]) -> dict[str, Any]:
    """Of a success; what needs more tokens than came is left out."""
    start, first, last = row["dispatched_s"], row["first_content_s"], row["last_content_s"]
    tokens, offsets = row["output_tokens_got"], row["chunk_offset_us"] or []
    told: dict[str, tuple[Any, str]] = {
        "input_sequence_length": (row["input_tokens_got"], "tokens"),
        "output_sequence_length": (tokens, "tokens"),
        "request_latency": (None if last is None else (last - start) * _MS, "ms"),
        "time_to_first_token": (None if first is None else (first - start) * _MS, "ms"),
    }
    if first is not None and tokens is not None and tokens > 1:
        gap = (last - first) / (tokens - 1)
        told["inter_token_latency"] = (gap * _MS, "ms")
        told["output_token_throughput_per_user"] = (1 / gap if gap else None, "tokens/sec/user")
    if len(offsets) > 1:
        gaps = [(b - a) / _MS for a, b in itertools.pairwise(offsets)]
        told["time_to_second_token"] = (gaps[0], "ms")
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
    name, status = row["error_class"] or row["outcome"], row["http_status"]
    code = status if status is not None and status >= _FAILED_STATUS else None
    return {"code": code, "type": name, "message": sentences.get(name, name)}


def _aggregate(found: Summary) -> dict[str, Any]:
    figures = sent(found.run)
    about = found.description
    told = {**_of_requests(found, figures), **_of_all(figures)}
    return {
        "schema_version": _SCHEMA,
        **{name: block for name, block in told.items() if block is not None},
        "origin": about.origin.value,
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


def _of_requests(found: Summary, figures: Sent) -> dict[str, dict[str, Any] | None]:
    ok = figures.of(Outcome.OK)
    gaps_s = chunk_gaps(streamed(found.run), ok)
    return {
        "time_to_first_token": _block(figures.ttft_s[ok] * _MS, "ms"),
        "time_to_second_token": _block(gaps_s.after_first * _MS, "ms"),
        "request_latency": _block(figures.to_last_s[ok] * _MS, "ms"),
        "inter_token_latency": _block(figures.tpot_s[ok] * _MS, "ms"),
        "inter_chunk_latency": _block(gaps_s.every * _MS, "ms"),
        "output_token_throughput_per_user": _block(figures.tokens_per_s[ok], "tokens/sec/user"),
        "input_sequence_length": _block(figures.input_tokens[ok], "tokens"),
        "output_sequence_length": _block(figures.output_tokens[ok], "tokens"),
    }


def _of_all(figures: Sent) -> dict[str, dict[str, Any] | None]:
    ok = figures.of(Outcome.OK)
    successes, failures = float(ok.sum()), float(len(ok) - ok.sum())
    totals = [detail(each[ok]) for each in (figures.input_tokens, figures.output_tokens)]
    inputs, outputs = (total.total if total else None for total in totals)
    seconds = figures.success_s
    return {
        "request_count": _single(successes, "requests"),
        "error_request_count": _single(failures, "requests"),
        "request_throughput": _rate(successes, seconds, "requests/sec"),
        "output_token_throughput": _rate(outputs, seconds, "tokens/sec"),
        "input_token_throughput": _rate(inputs, seconds, "tokens/sec"),
        "benchmark_duration": _single(seconds, "sec"),
        "total_isl": _single(inputs, "tokens"),
        "total_osl": _single(outputs, "tokens"),
    }


def _rate(value: float | None, seconds: float | None, unit: str) -> dict[str, Any] | None:
    return None if value is None or not seconds else _single(value / seconds, unit)


def _single(value: float | None, unit: str) -> dict[str, Any] | None:
    return None if value is None else {"unit": unit, "avg": value}


def _block(values: "Floats", unit: str) -> dict[str, Any] | None:
    found = detail(values, "linear")
    if found is None:
        return None
    shares = {name: found.percentiles[share] for share, name in _STATS.items()}
    ends = {"min": found.min, "max": found.max, "std": found.std}
    return {"unit": unit, "avg": found.mean, **shares, **ends, "count": found.count, "sum": found.total}  # fmt: skip
