"""GuideLLM's benchmark report: every request it sent, by how it ended.

`benchmarks[].requests` holds the lists successful, errored and incomplete; a request has
`request_start_time` and `request_latency` (seconds), `time_to_first_token_ms` and token counts.
Source: https://github.com/vllm-project/guidellm (src/guidellm/schemas/request_stats.py, info.py,
src/guidellm/benchmark/schemas/report.py).
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from vramledger.record.outcome import Outcome
from vramledger.workload.fields import (
    MILLISECOND,
    SECOND,
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

_ENDS: Final = {
    "successful": Outcome.OK,
    "errored": Outcome.FAILED,
    "incomplete": Outcome.INCOMPLETE,
}
_ENDED: Final = "how it ended"  # beside the fields of a request in its row


def _recognise(head: Head) -> bool:
    return any(_groups(each) or _is_request(each) for each in head.records)


def _is_request(values: Mapping[str, Any]) -> bool:
    return values.get("type_") == "generative_request_stats"


def _groups(values: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The `requests` of each benchmark in a record: a whole report, or one of its benchmarks."""
    benchmarks = values.get("benchmarks")
    candidates = benchmarks if isinstance(benchmarks, list) else [values]
    found = [each.get("requests") for each in candidates if isinstance(each, Mapping)]
    return [each for each in found if isinstance(each, Mapping) and _ENDS.keys() & each.keys()]


def _rows(record: Record) -> Iterable[Record]:
    if _is_request(record.values):
        return (record,)
    groups = _groups(record.values)
    if not groups:
        raise RowProblem("a benchmark without its requests")
    return [
        Record(record.line, {_ENDED: end, "request": request})
        for group in groups
        for end in _ENDS
        for request in _list(group.get(end), end)
    ]


def _list(value: Any, name: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise RowProblem(f"{name} is not a list")
    return value


def _row(record: Record, _context: Context) -> RawRequest:
    values = record.values.get("request", record.values)
    info = values.get("info") if isinstance(values, Mapping) else None
    if not isinstance(info, Mapping):
        raise RowProblem("info is missing")
    tokens = optional_whole_number(values.get("prompt_tokens"), "prompt_tokens")
    outcome = _ENDS.get(record.values.get(_ENDED, ""), Outcome.UNKNOWN)
    return RawRequest(
        line=record.line,
        arrival_ns=nanoseconds(values.get("request_start_time"), "request_start_time", SECOND),
        input_tokens=tokens,
        output_tokens=optional_whole_number(values.get("output_tokens"), "output_tokens"),
        cached_tokens=part(values.get("cached_tokens"), "cached_tokens", tokens, "prompt_tokens"),
        duration_ns=optional_duration_ns(values.get("request_latency"), "request_latency", SECOND),
        first_token_ns=optional_duration_ns(
            values.get("time_to_first_token_ms"), "time_to_first_token_ms", MILLISECOND
        ),
        outcome=Outcome.CANCELLED if info.get("status") == "cancelled" else outcome,
        session=first_text(info.get("conversation_id")),
        turn=optional_whole_number(info.get("turn_index"), "turn_index"),
        request_id=first_text(values.get("request_id")),
    )


FORMAT: Final = LogFormat(
    name="guidellm",
    title="GuideLLM benchmark report (benchmarks.json)",
    framings=(Framing.JSON, Framing.JSONL),
    clock=Clock.EPOCH,
    recognise=_recognise,
    parser=row_by_row(_row),
    lacks=("It names no prefixes; its arrivals are when the load generator sent.",),
    source="https://github.com/vllm-project/guidellm",
    rows=_rows,
)
