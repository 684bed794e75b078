"""EvalScope's workload_trace: recorded requests whole, with their moments.

A line has `body` (the request, an object or JSON text), `timestamp` (seconds or ISO 8601), and maybe
`headers`, `request_id` and `completion_tokens`, nothing else.
Source: https://github.com/modelscope/evalscope (evalscope/perf/plugin/datasets/workload_trace.py).
"""

from typing import Any, Final

from vramledger.workload.fields import number, optional_whole_number
from vramledger.workload.formats.format import (
    Clock,
    Context,
    Framing,
    Head,
    LogFormat,
    Record,
    row_by_row,
)
from vramledger.workload.formats.parts.chat import limit_of, of_body
from vramledger.workload.formats.parts.embedded import first_text, mapping
from vramledger.workload.raw import RawRequest, RowProblem
from vramledger.workload.timestamps import moment_ns

_REQUIRED: Final = {"body", "timestamp"}
_FIELDS: Final = _REQUIRED | {"headers", "request_id", "completion_tokens"}


def _recognise(head: Head) -> bool:
    return any(_REQUIRED <= each.keys() <= _FIELDS for each in head.records)


def _clock_by(value: Any) -> Clock:
    """A date, or seconds that make one: since the epoch. Small numbers: since the log's start."""
    try:
        return Clock.RELATIVE if abs(number(value, "timestamp")) < 1e8 else Clock.EPOCH
    except RowProblem:
        return Clock.EPOCH


def _clock(head: Head) -> Clock:
    return _clock_by(next((each["timestamp"] for each in head.records if "timestamp" in each), ""))


def _row(record: Record, context: Context) -> RawRequest:
    values = record.values
    body = mapping(values.get("body"), "body")
    content = of_body(body)
    if content is None:
        raise RowProblem("body holds no prompt")
    return RawRequest(
        line=record.line,
        arrival_ns=moment_ns(values.get("timestamp"), "timestamp", context),
        input_text=content.text,
        output_tokens=optional_whole_number(values.get("completion_tokens"), "completion_tokens"),
        max_output_tokens=limit_of(body),
        tenant=first_text(body.get("user")),
        model=first_text(body.get("model")),
        request_id=first_text(values.get("request_id")),
        images=content.images or None,
    )


FORMAT: Final = LogFormat(
    name="workload-trace",
    title="EvalScope workload_trace",
    framings=(Framing.JSONL,),
    clock=Clock.EPOCH,
    clock_in=_clock,
    recognise=_recognise,
    parser=row_by_row(_row),
    lacks=(
        "It tells how long an answer was only where it has completion_tokens, and nothing of failures.",
    ),
    source="https://github.com/modelscope/evalscope",
)
