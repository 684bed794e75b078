"""GuideLLM's ``benchmarks.json``, report schema 2 (version 0.7 on), with one benchmark.

https://github.com/vllm-project/guidellm: `benchmark/schemas/report.py`, `benchmark.py`, `metrics.py`, `schemas/base/info.py`
and `request_stats.py`. A time inside a scheduler of theirs that a trial has no counterpart of is -1, as theirs is when
unknown. A request that had not ended when the run did is told as ended then.
"""

import platform
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from vramledger import __version__
from vramledger.report.trial_export.export_file import ExportFile, json_file
from vramledger.report.trial_export.guidellm_metrics import STATUS, metrics_of
from vramledger.trial.conduct.detail import detail
from vramledger.trial.conduct.sent import Sent, WallClock, rows, sent
from vramledger.trial.conduct.streamed import streamed
from vramledger.trial.conduct.summary import Summary
from vramledger.trial.conduct.window import Window, window_of

_OF_OUTCOME: Final = {each.value: name for name, group in STATUS.items() for each in group}
_WORDS: Final = {"successful": "completed", "errored": "errored", "incomplete": "cancelled"}
_UNKNOWN: Final = -1.0


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
    data = {"kind": "parquet_file", "path": Path(trial["load"]["workload"]).name}
    return {
        "metadata": {
            "version": 2,
            "guidellm_version": f"written by vramledger {__version__}",
            "python_version": platform.python_version(),
            "platform": platform.platform(),
        },
        "config": {
            "metadata": {"labels": {"origin": found.description.origin.value}},
            "spec": {"backend": backend, "profile": _profile(found), "data": [data]},
            "benchmarks": [None],
        },
        "benchmarks": [_benchmark(found, backend)],
    }


def _profile(found: Summary) -> dict[str, Any]:
    closed = found.trial["load"]["closed"]
    if closed is None:
        return {"kind": "replay", **_schedule(found)}
    return {"kind": "concurrent", "streams": [closed]}


def _strategy(found: Summary) -> dict[str, Any]:
    closed = found.trial["load"]["closed"]
    if closed is None:
        return {"type_": "trace", **_schedule(found)}
    return {"type_": "concurrent", "streams": closed}


def _schedule(found: Summary) -> dict[str, Any]:
    """Their factor is on times between requests, ours on their rate."""
    return {"time_scale": 1 / found.trial["rate_scale"], "schedule_turn": "timestamp"}


def _benchmark(found: Summary, backend: dict[str, Any]) -> dict[str, Any]:
    clock, figures = WallClock(found.run), sent(found.run)
    window = window_of(found, figures)
    scheduled = found.trial["load"]["closed"] is None
    metrics = metrics_of(figures, streamed(found.run), window, scheduled=scheduled)
    return {
        "type_": "generative_benchmark",
        "config": {
            "id_": found.description.sha256,
            "run_id": found.description.sha256,
            "run_index": 0,
            "strategy": _strategy(found),
            "constraints": {},
            "profile": _profile(found),
            "requests": {},
            "backend": backend,
            "environment": {},
        },
        "scheduler_state": _state(metrics["request_totals"], window, clock),
        "scheduler_metrics": _scheduler(found, figures, metrics["request_totals"], window, clock),
        "metrics": metrics,
        "requests": _requests(found, window, clock),
        **_durations(window, clock),
    }


def _durations(window: Window, clock: WallClock) -> dict[str, Any]:
    start, end = (clock.s(moment) for moment in window.span)
    return {
        "start_time": start,
        "end_time": end,
        "duration": window.span[1] - window.span[0],
        "warmup_duration": 0.0,
        "cooldown_duration": 0.0,
    }


def _state(counts: dict[str, int], window: Window, clock: WallClock) -> dict[str, Any]:
    return {
        "start_time": clock.s(window.began_s),
        "end_time": clock.s(window.ended_s),
        "start_requests_time": clock.s(window.span[0]),
        "end_requests_time": clock.s(window.span[1]),
        "created_requests": counts["total"],
        "processed_requests": counts["total"],
        "successful_requests": counts["successful"],
        "errored_requests": counts["errored"],
        "cancelled_requests": counts["incomplete"],
    }


def _scheduler(
    found: Summary, figures: Sent, counts: dict[str, int], window: Window, clock: WallClock
) -> dict[str, Any]:
    latency, late = detail(figures.latency_s), found.latencies.late_dispatch_s.mean
    start, end = (clock.s(moment) for moment in window.span)
    return {
        "start_time": clock.s(window.began_s),
        "request_start_time": start,
        "measure_start_time": start,
        "measure_end_time": end,
        "request_end_time": end,
        "end_time": clock.s(window.ended_s),
        "requests_made": counts,
        "queued_time_avg": _UNKNOWN,
        "resolve_start_delay_avg": _UNKNOWN,
        "resolve_targeted_start_delay_avg": _UNKNOWN,
        "request_start_delay_avg": _UNKNOWN,
        "request_targeted_start_delay_avg": _UNKNOWN if late is None else late,
        "request_time_avg": latency.mean if latency else _UNKNOWN,
        "resolve_end_delay_avg": _UNKNOWN,
        "resolve_time_avg": _UNKNOWN,
        "finalized_delay_avg": _UNKNOWN,
        "processed_delay_avg": _UNKNOWN,
        "strategy_type": _strategy(found)["type_"],
    }


def _requests(found: Summary, window: Window, clock: WallClock) -> dict[str, Any]:
    groups: dict[str, list[dict[str, Any]]] = {name: [] for name in STATUS}
    turns: Counter[int] = Counter()
    for row in rows(found.run):
        name = _OF_OUTCOME[row["outcome"]]
        groups[name].append(_request(row, _WORDS[name], turns, window, clock))
        if row["session"] is not None:
            turns[row["session"]] += 1
    return {**groups, "total": None}


def _request(
    row: dict[str, Any], status: str, turns: Counter[int], window: Window, clock: WallClock
) -> dict[str, Any]:
    session = row["session"]
    return {
        "type_": "generative_request_stats",
        "request_id": str(row["request_id"]),
        "response_id": row["server_request_id"],
        "request_args": None,
        "output": None,
        "info": {
            "request_id": str(row["request_id"]),
            "conversation_id": None if session is None else str(session),
            "turn_index": 0 if session is None else turns[session],
            "status": status,
            "timings": _timings(row, window, clock),
            "error": row["error_class"],
        },
        "input_metrics": {"text_tokens": row["input_tokens_got"], "cached_tokens": row["cached_tokens"]},
        "output_metrics": {"text_tokens": row["output_tokens_got"]},
    }  # fmt: skip


def _timings(row: dict[str, Any], window: Window, clock: WallClock) -> dict[str, Any]:
    chunks = len(row["chunk_offset_us"] or ())
    end = clock.s(window.ended_s if row["done_s"] is None else row["done_s"])
    return {
        "targeted_start": clock.s(row["due_s"]),
        "resolve_start": clock.s(row["due_s"]),
        "request_start": clock.s(row["dispatched_s"]),
        "first_request_iteration": clock.s(row["first_byte_s"]),
        "first_token_iteration": clock.s(row["first_content_s"]),
        "first_output_token_iteration": clock.s(row["first_answer_s"]),
        "last_token_iteration": clock.s(row["last_content_s"]),
        "request_iterations": chunks,
        "token_iterations": chunks,
        "request_end": end,
        "resolve_end": end,
    }
