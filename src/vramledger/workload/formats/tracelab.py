"""TraceLab: one row a call of the model by a coding agent, with its cache split and its events.

A round arrives when its last input (a user's message or a tool's result) is there, before the first
thing the model wrote, and ends with its last event. `input_tokens_total = prefix_tokens +
newly_append_tokens`; the prefix came from the provider's cache.
Source: https://github.com/uw-syfi/TraceLab (README, "Data format"; "Latency fields" for the times).
"""

from collections.abc import Mapping
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.workload.fields import optional_whole_number, part, whole_number
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
from vramledger.workload.timestamps import moment_ns

_INPUTS: Final = ("user_message", "tool_result")


def _recognise(head: Head) -> bool:
    return head.has("session_id", "round_index", "input_tokens_total", "timing_events")


@frozen
class _Span:
    arrival_ns: int
    end_ns: int | None  # None: nothing follows the arrival


def _span(events: Any, context: Context) -> _Span:
    if not isinstance(events, list) or not events:
        raise RowProblem("timing_events is missing")
    if not all(isinstance(each, Mapping) for each in events):
        raise RowProblem("timing_events holds something that is no event")
    moments = [moment_ns(each.get("timestamp"), "timestamp", context) for each in events]
    is_input = [each.get("event_type") in _INPUTS for each in events]
    outputs = [moment for moment, given in zip(moments, is_input, strict=True) if not given]
    first_output = min(outputs, default=None)
    inputs = [
        moment
        for moment, given in zip(moments, is_input, strict=True)
        if given and (first_output is None or moment <= first_output)
    ]
    arrival = max(inputs, default=min(moments))
    return _Span(arrival, max(outputs, default=None))


def _row(record: Record, context: Context) -> RawRequest:
    values = record.values
    span = _span(values.get("timing_events"), context)
    tokens = whole_number(values.get("input_tokens_total"), "input_tokens_total")
    output = whole_number(values.get("output_tokens"), "output_tokens")
    context.infer(
        "A round arrives at its last input before the model's first event and ends at its last (inferred)."
    )
    return RawRequest(
        line=record.line,
        arrival_ns=span.arrival_ns,
        input_tokens=tokens,
        output_tokens=output,
        thinking_tokens=part(
            values.get("reasoning_output_tokens"),
            "reasoning_output_tokens",
            output,
            "output_tokens",
        ),
        cached_tokens=part(
            values.get("prefix_tokens"), "prefix_tokens", tokens, "input_tokens_total"
        ),
        duration_ns=None if span.end_ns is None else span.end_ns - span.arrival_ns,
        session=first_text(values.get("session_id")),
        turn=optional_whole_number(values.get("round_index"), "round_index"),
        tenant=first_text(values.get("user")),
        model=first_text(values.get("model")),
        request_id=first_text(values.get("trace_key"), values.get("round_id")),
    )


FORMAT: Final = LogFormat(
    name="tracelab",
    title="TraceLab rounds of coding agents",
    framings=(Framing.JSONL, Framing.JSON),
    clock=Clock.EPOCH,
    recognise=_recognise,
    parser=row_by_row(_row),
    lacks=(
        "It names no prefix blocks (only how many tokens the provider's cache served) and no failures.",
        "Its times are those of the agent's own log, not of a server.",
    ),
    source="https://github.com/uw-syfi/TraceLab",
)
