"""AIPerf's record of each request it sent: profile_export.jsonl.

`metadata` holds moments as nanoseconds since the epoch, `metrics` values with their units; a failed
request has `error` and only the metric `error_isl`. `output_sequence_length` includes reasoning.
Source: https://github.com/ai-dynamo/aiperf (docs/tutorials/working-with-profile-exports.md,
aiperf/metrics/types/output_sequence_length_metric.py).
"""

from collections.abc import Mapping
from typing import Any, Final

from vramledger.record.outcome import Outcome, of_status
from vramledger.workload.fields import (
    nanoseconds,
    optional_duration_ns,
    optional_whole_number,
    part,
)
from vramledger.workload.formats.format import (
    Clock,
    Context,
    Framing,
    Head,
    LogFormat,
    Record,
    row_by_row,
)
from vramledger.workload.formats.parts.embedded import first_text
from vramledger.workload.raw import RawRequest, RowProblem

_UNITS_NS: Final = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9, "sec": 10**9}


def _recognise(head: Head) -> bool:
    return any(
        isinstance(each.get("metadata"), Mapping)
        and "request_start_ns" in each["metadata"]
        and isinstance(each.get("metrics"), Mapping)
        for each in head.records
    )


def _row(record: Record, _context: Context) -> RawRequest:
    metadata, metrics = _object(record, "metadata"), _object(record, "metrics")
    if metadata.get("benchmark_phase") == "warmup":
        raise RowProblem("request of the warm-up")
    start = nanoseconds(metadata.get("request_start_ns"), "request_start_ns", 1)
    output = optional_whole_number(
        _value(metrics, "output_sequence_length"), "output_sequence_length"
    )
    ended = _since(start, metadata, "request_end_ns")
    return RawRequest(
        line=record.line,
        arrival_ns=start,
        input_tokens=_input_tokens(metrics),
        output_tokens=output,
        thinking_tokens=part(
            _value(metrics, "reasoning_token_count"), "reasoning_token_count", output,
            "output_sequence_length",
        ),
        duration_ns=ended,
        first_token_ns=_duration_ns(metrics, "time_to_first_token"),
        outcome=_outcome(metadata, record.values.get("error")),
        cancel_after_ns=(
            _since(start, metadata, "cancellation_time_ns") if metadata.get("was_cancelled") else None
        ),
        session=first_text(metadata.get("x_correlation_id")),
        turn=optional_whole_number(metadata.get("turn_index"), "turn_index"),
        request_id=first_text(metadata.get("x_request_id")),
    )  # fmt: skip


def _object(record: Record, name: str) -> Mapping[str, Any]:
    found = record.values.get(name)
    if not isinstance(found, Mapping):
        raise RowProblem(f"{name} is missing")
    return found


def _value(metrics: Mapping[str, Any], name: str) -> Any:
    metric = metrics.get(name)
    return metric.get("value") if isinstance(metric, Mapping) else None


def _input_tokens(metrics: Mapping[str, Any]) -> int | None:
    for name in ("input_sequence_length", "error_isl"):
        found = optional_whole_number(_value(metrics, name), name)
        if found is not None:
            return found
    return None


def _duration_ns(metrics: Mapping[str, Any], name: str) -> int | None:
    metric = metrics.get(name)
    unit = _UNITS_NS.get(str(metric.get("unit"))) if isinstance(metric, Mapping) else None
    return None if unit is None else optional_duration_ns(_value(metrics, name), name, unit)


def _since(start_ns: int, metadata: Mapping[str, Any], name: str) -> int | None:
    if metadata.get(name) is None:
        return None
    passed = nanoseconds(metadata[name], name, 1) - start_ns
    if passed < 0:
        raise RowProblem(f"{name} is before request_start_ns")
    return passed


def _outcome(metadata: Mapping[str, Any], error: Any) -> Outcome:
    if metadata.get("was_cancelled"):
        return Outcome.CANCELLED
    if not isinstance(error, Mapping):
        return Outcome.OK
    if "timeout" in str(error.get("type", "")).lower():
        return Outcome.TIMED_OUT
    code = error.get("code")
    found = of_status(code) if isinstance(code, int) else Outcome.FAILED
    return Outcome.FAILED if found in (Outcome.OK, Outcome.UNKNOWN) else found


FORMAT: Final = LogFormat(
    name="aiperf-export",
    title="AIPerf request records (profile_export.jsonl)",
    framings=(Framing.JSONL,),
    clock=Clock.EPOCH,
    recognise=_recognise,
    parser=row_by_row(_row),
    lacks=("It names no prefixes or models; its arrivals are when the load generator sent.",),
    source="https://github.com/ai-dynamo/aiperf",
)
