"""GuideLLM's ``benchmarks.json``, report schema 2 (version 0.7 on), with one benchmark.

https://github.com/vllm-project/guidellm: `benchmark/schemas/report.py`, `benchmark.py`, `metrics.py` and
`schemas/statistics.py`, `schemas/request_stats.py`. Distributions over requests are filled in; those over time
(requests in flight, tokens a second) have their mean alone.
"""

import platform
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from vramledger import __version__
from vramledger.record.outcome import Outcome
from vramledger.report.trial_export.export_file import ExportFile, json_file
from vramledger.trial.conduct.detail import SHARES, Detail, detail
from vramledger.trial.conduct.sent import Sent, WallClock, rows, sent
from vramledger.trial.conduct.summary import Summary

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

_MS: Final = 1e3
_STATUS: Final = {
    "successful": (Outcome.OK,),
    "errored": (Outcome.FAILED, Outcome.REJECTED, Outcome.TIMED_OUT),
    "incomplete": (Outcome.INCOMPLETE, Outcome.CANCELLED),
}
_OF_OUTCOME: Final = {each.value: name for name, group in _STATUS.items() for each in group}
_WORDS: Final = {"successful": "completed", "errored": "errored", "incomplete": "cancelled"}
_NAMES: Final = dict(
    zip(SHARES, ("p001", "p01", "p05", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p999"), strict=True)
)  # fmt: skip


def guidellm_files(found: Summary) -> Iterator[ExportFile]:
    """The one file."""
    yield json_file("benchmarks.json", _report(found))


def _report(found: Summary) -> dict[str, Any]:
    trial = found.trial
    backend = {
        "kind": "openai_http",
        "target": trial["server"],
        "model": trial["load"]["prompts"]["style"]["model"],
        "request_format": trial["target"]["path"],
    }
    return {
        "metadata": {
            "version": 2,
            "guidellm_version": f"written by vramledger {__version__}",
            "python_version": platform.python_version(),
            "platform": platform.platform(),
        },
        "config": {
            "metadata": {"labels": {"origin": found.description.origin.value}},
            "spec": {"backend": backend, "profile": _profile(found), "data": []},
            "benchmarks": [None],
        },
        "benchmarks": [_benchmark(found, backend)],
    }


def _profile(found: Summary) -> dict[str, Any]:
    closed = found.trial["load"]["closed"]
    return {"kind": "replay"} if closed is None else {"kind": "concurrent", "streams": [closed]}


def _benchmark(found: Summary, backend: dict[str, Any]) -> dict[str, Any]:
    clock, figures = WallClock(found.run), sent(found.run)
    spans = found.story.spans
    start = clock.s(spans[0].from_s) if spans else None
    end = clock.s(spans[-1].to_s) if spans else None
    counts = _counts(figures)
    closed = found.trial["load"]["closed"]
    strategy = {"type_": "replay"} if closed is None else {"type_": "concurrent", "streams": closed}
    return {
        "type_": "generative_benchmark",
        "config": {
            "id_": found.description.sha256,
            "run_id": found.description.sha256,
            "run_index": 0,
            "strategy": strategy,
            "constraints": {},
            "profile": _profile(found),
            "requests": {},
            "backend": backend,
            "environment": {},
        },
        "scheduler_state": _state(counts, start, end),
        "scheduler_metrics": _scheduler(found, figures, counts, start, end),
        "metrics": _metrics(found, figures, counts),
        "requests": _requests(found, clock),
        "start_time": start,
        "end_time": end,
        "duration": None if start is None or end is None else end - start,
        "warmup_duration": 0.0,
        "cooldown_duration": 0.0,
    }


def _counts(figures: Sent) -> dict[str, int]:
    counts = {name: int(figures.of(*group).sum()) for name, group in _STATUS.items()}
    return {**counts, "total": len(figures.found)}


def _state(counts: dict[str, int], start: float | None, end: float | None) -> dict[str, Any]:
    return {
        "start_time": start,
        "end_time": end,
        "created_requests": counts["total"],
        "processed_requests": counts["total"],
        "successful_requests": counts["successful"],
        "errored_requests": counts["errored"],
        "cancelled_requests": counts["incomplete"],
    }


def _scheduler(
    found: Summary, figures: Sent, counts: dict[str, int], start: float | None, end: float | None
) -> dict[str, Any]:
    """What a scheduler of theirs would say; delays inside it have no counterpart here."""
    latency = detail(figures.latency_s)
    return {
        "start_time": start,
        "request_start_time": start,
        "measure_start_time": start,
        "measure_end_time": end,
        "request_end_time": end,
        "end_time": end,
        "requests_made": counts,
        "queued_time_avg": None,
        "resolve_start_delay_avg": None,
        "resolve_targeted_start_delay_avg": None,
        "request_start_delay_avg": None,
        "request_targeted_start_delay_avg": found.latencies.late_dispatch_s.mean,
        "request_time_avg": latency.mean if latency else None,
        "resolve_end_delay_avg": None,
        "resolve_time_avg": None,
        "finalized_delay_avg": None,
        "processed_delay_avg": None,
    }


def _metrics(found: Summary, figures: Sent, counts: dict[str, int]) -> dict[str, Any]:
    total = figures.input_tokens + figures.output_tokens
    rates = found.rates
    both = None
    if rates.input_tokens_per_s is not None and rates.output_tokens_per_s is not None:
        both = rates.input_tokens_per_s + rates.output_tokens_per_s
    return {
        "request_totals": counts,
        "requests_per_second": _mean(rates.requests_per_s),
        "request_concurrency": None,
        "request_latency": _by_status(figures, figures.latency_s),
        "request_streaming_iterations_count": None,
        "prompt_token_count": _by_status(figures, figures.input_tokens),
        "output_token_count": _by_status(figures, figures.output_tokens),
        "total_token_count": _by_status(figures, total),
        "time_to_first_token_ms": _by_status(figures, figures.ttft_s * _MS),
        "time_to_first_output_token_ms": _by_status(figures, figures.first_answer_s * _MS),
        "time_per_output_token_ms": _by_status(figures, figures.normalized_tpot_s * _MS),
        "inter_token_latency_ms": _by_status(figures, figures.tpot_s * _MS),
        "prompt_tokens_per_second": _mean(rates.input_tokens_per_s),
        "output_tokens_per_second": _mean(rates.output_tokens_per_s),
        "tokens_per_second": _mean(both),
        "output_tokens_per_iteration": None,
        "iter_tokens_per_iteration": None,
        "text": None,
        "image": None,
        "video": None,
        "audio": None,
        "tool_call": None,
    }


def _by_status(figures: Sent, values: "Floats") -> dict[str, Any]:
    found = {name: _summary(detail(values[figures.of(*group)])) for name, group in _STATUS.items()}
    return {**found, "total": _summary(detail(values))}


def _summary(found: Detail | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "mean": found.mean,
        "median": found.percentiles[0.5],
        "mode": found.mode,
        "variance": found.std**2,
        "std_dev": found.std,
        "min": found.min,
        "max": found.max,
        "count": found.count,
        "total_sum": found.total,
        "percentiles": {name: found.percentiles[share] for share, name in _NAMES.items()},
        "pdf": None,
    }


def _mean(value: float | None) -> dict[str, Any]:
    """A figure over time of which the mean is known: of successes for requests, of everything for tokens."""
    return {"successful": {"mean": value}, "errored": None, "incomplete": None, "total": {"mean": value}}  # fmt: skip


def _requests(found: Summary, clock: WallClock) -> dict[str, Any]:
    groups: dict[str, list[dict[str, Any]]] = {name: [] for name in _STATUS}
    for row in rows(found.run):
        name = _OF_OUTCOME[row["outcome"]]
        groups[name].append(_request(row, _WORDS[name], clock))
    return {**groups, "total": None}


def _request(row: dict[str, Any], status: str, clock: WallClock) -> dict[str, Any]:
    timings = {
        "targeted_start": clock.s(row["due_s"]),
        "request_start": clock.s(row["dispatched_s"]),
        "first_request_iteration": clock.s(row["first_byte_s"]),
        "first_token_iteration": clock.s(row["first_content_s"]),
        "first_output_token_iteration": clock.s(row["first_answer_s"]),
        "last_token_iteration": clock.s(row["last_content_s"]),
        "token_iterations": len(row["chunk_offset_us"] or ()),
        "request_end": clock.s(row["done_s"]),
    }
    return {
        "type_": "generative_request_stats",
        "request_id": str(row["request_id"]),
        "response_id": row["server_request_id"],
        "request_args": None,
        "output": None,
        "info": {
            "request_id": str(row["request_id"]),
            "conversation_id": None if row["session"] is None else str(row["session"]),
            "status": status,
            "timings": timings,
            "error": row["error_class"],
        },
        "input_metrics": {"total_tokens": row["input_tokens_got"], "cached_tokens": row["cached_tokens"]},
        "output_metrics": {"total_tokens": row["output_tokens_got"]},
    }  # fmt: skip
