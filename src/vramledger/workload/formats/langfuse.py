"""Langfuse: generations exported from its pages (CSV, JSON), its blob storage or its API (JSON lines).

Sources: https://langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields,
https://langfuse.com/docs/api-and-data-platform/features/export-from-ui, and the observation of
https://api.reference.langfuse.com.

Keys of `usageDetails` are disjoint: all that name input add up to the input, all that name output to the output
(https://langfuse.com/docs/observability/features/token-and-cost-tracking).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome
from vramledger.workload.fields import optional_whole_number
from vramledger.workload.formats.format import (
    Clock,
    Context,
    Framing,
    Head,
    LogFormat,
    Record,
    row_by_row,
)
from vramledger.workload.formats.parts.chat import answer_text, limit_of, of_messages
from vramledger.workload.formats.parts.embedded import first_text, mapping, value_or_text
from vramledger.workload.formats.parts.times import (
    between_ns,
    optional_moment_ns,
    optional_span_ns,
)
from vramledger.workload.formats.parts.usage import Usage, of_usage
from vramledger.workload.raw import RawRequest, RowProblem
from vramledger.workload.timestamps import moment_ns

_LEVELS: Final = {
    "ERROR": Outcome.FAILED,
    "DEFAULT": Outcome.OK,
    "DEBUG": Outcome.OK,
    "WARNING": Outcome.OK,
}


def _key(name: str) -> str:
    """startTime, start_time and "Start Time" are one."""
    return name.replace("_", "").replace(" ", "").lower()


@frozen
class _Fields:
    """The fields of an observation, whatever way its export spells them."""

    values: Mapping[str, Any]

    def get(self, *names: str) -> Any:
        """The first that is there and not empty."""
        for name in names:
            found = self.values.get(name)
            if found not in (None, ""):
                return found
        return None


def _fields(values: Mapping[str, Any]) -> _Fields:
    return _Fields({_key(name): value for name, value in values.items()})


def _recognise(head: Head) -> bool:
    names = {_key(name) for name in head.columns or (head.records[0] if head.records else ())}
    return (
        {"id", "starttime", "level"} <= names
        and bool(names & {"traceid", "tracename"})
        and bool(names & {"usagedetails", "usage", "inputusage", "prompttokens", "type"})
    )


def _row(record: Record, context: Context) -> RawRequest:
    fields = _fields(record.values)
    kind = fields.get("type")
    if kind is not None and str(kind).upper() != "GENERATION":
        raise RowProblem("observation is no generation")
    start = moment_ns(fields.get("starttime"), "startTime", context)
    end = optional_moment_ns(fields.get("endtime"), "endTime", context)
    first = optional_moment_ns(fields.get("completionstarttime"), "completionStartTime", context)
    duration = between_ns(start, end)
    usage = _usage(fields)
    parameters = mapping(fields.get("modelparameters"), "modelParameters")
    prompt = of_messages(value_or_text(fields.get("input")))
    return RawRequest(
        line=record.line,
        arrival_ns=start,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        thinking_tokens=usage.thinking_tokens,
        cached_tokens=usage.cached_tokens,
        max_output_tokens=limit_of(parameters),
        input_text=None if prompt is None else prompt.text,
        images=None if prompt is None else prompt.images,
        audio_ns=None if prompt is None else prompt.audio_ns,
        output_text=answer_text(value_or_text(fields.get("output"))),
        duration_ns=optional_span_ns(fields.get("latency"), "latency") if end is None else duration,
        first_token_ns=_first_token(fields) if first is None else between_ns(start, first),
        outcome=_LEVELS.get(str(fields.get("level") or "").upper(), Outcome.UNKNOWN),
        session=first_text(fields.get("sessionid")),
        tenant=first_text(fields.get("userid")),
        model=first_text(fields.get("providedmodelname", "model", "modelid")),
        request_id=first_text(fields.get("id")),
    )


def _first_token(fields: _Fields) -> int | None:
    return optional_span_ns(fields.get("timetofirsttoken"), "timeToFirstToken")


def _usage(fields: _Fields) -> Usage:
    """Of usageDetails, else of the older usage object, else of the flat columns."""
    details = mapping(fields.get("usagedetails"), "usageDetails")
    if details:
        return of_usage(details) if "prompt_tokens" in details else _disjoint(details)
    older = mapping(fields.get("usage"), "usage")
    if older and str(older.get("unit") or "TOKENS").upper() != "TOKENS":
        return Usage()
    if older:
        found = of_usage(older)
        return Usage(
            _or(found.input_tokens, older, "input", "promptTokens"),
            _or(found.output_tokens, older, "output", "completionTokens"),
            found.thinking_tokens,
            found.cached_tokens,
        )
    return Usage(
        optional_whole_number(
            fields.get("inputusage", "prompttokens", "inputtokens"), "inputUsage"
        ),
        optional_whole_number(
            fields.get("outputusage", "completiontokens", "outputtokens"), "outputUsage"
        ),
    )


def _or(found: int | None, usage: Mapping[str, Any], *names: str) -> int | None:
    for name in names:
        if found is None:
            found = optional_whole_number(usage.get(name), name)
    return found


def _disjoint(details: Mapping[str, Any]) -> Usage:
    """Sums over the keys that name a side; None where none does."""
    return Usage(
        input_tokens=_sum(details, lambda key: "input" in key),
        output_tokens=_sum(details, lambda key: "output" in key),
        thinking_tokens=_sum(details, lambda key: "output" in key and "reasoning" in key),
        cached_tokens=_sum(
            details,
            lambda key: (
                "input" in key and "cache" in key and not ("creation" in key or "write" in key)
            ),
        ),
    )


def _sum(details: Mapping[str, Any], wanted: Callable[[str], bool]) -> int | None:
    found = [
        optional_whole_number(value, "usageDetails") or 0
        for key, value in details.items()
        if wanted(str(key).lower())
    ]
    return sum(found) if found else None


FORMAT: Final = LogFormat(
    name="langfuse",
    title="Langfuse export of generations (CSV, JSON, JSON lines)",
    framings=(Framing.CSV, Framing.JSONL, Framing.JSON, Framing.PARQUET),
    clock=Clock.EPOCH,
    recognise=_recognise,
    parser=row_by_row(_row),
    lacks=("It tells that a call failed, not how, and ties no retries to their first attempts.",),
    source="https://langfuse.com/docs/api-and-data-platform/features/blob-storage-export-fields",
)
