"""OpenTelemetry spans of calls to models: OTLP as JSON, one object or one a line.

Sources: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding,
https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/, the names before 1.27
(gen_ai.usage.prompt_tokens, llm.usage.prompt_tokens) of
https://github.com/traceloop/openllmetry and vLLM's own attributes of vllm/tracing/utils.py
(https://github.com/vllm-project/vllm).

A record is an export (`resourceSpans`), one resource's part of it, or a single span. Spans that call no
model are dropped, each counted. A framework traces a call and so does the client that it calls by, one
span directly within the other: within a record the inner one counts, which is nearer to the server.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

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
from vramledger.workload.formats.parts.chat import answer_text, of_messages
from vramledger.workload.formats.parts.embedded import first_text, value_or_text
from vramledger.workload.formats.parts.error_class import outcome_of_error
from vramledger.workload.formats.parts.times import (
    between_ns,
    optional_moment_ns,
    span_ns,
)
from vramledger.workload.raw import RawRequest, RowProblem

_INPUT: Final = (
    "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.usage.prompt_tokens",
    "llm.token_count.prompt",
)  # fmt: skip
_OUTPUT: Final = (
    "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.usage.completion_tokens",
    "llm.token_count.completion",
)  # fmt: skip
_THINKING: Final = (
    "gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens",
    "gen_ai.usage.output_tokens.reasoning", "llm.usage.reasoning_tokens",
    "llm.token_count.completion_details.reasoning",
)  # fmt: skip
_CACHED: Final = (
    "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens",
    "gen_ai.usage.cached_tokens", "gen_ai.usage.input_tokens.cached",
    "llm.usage.cache_read_input_tokens", "llm.token_count.prompt_details.cache_read",
)  # fmt: skip
_LIMIT: Final = ("gen_ai.request.max_tokens", "llm.request.max_tokens")
_FIRST: Final = (  # seconds
    "gen_ai.latency.time_to_first_token", "gen_ai.server.time_to_first_token",
    "gen_ai.response.time_to_first_chunk",
)  # fmt: skip
_MODEL: Final = (
    "gen_ai.request.model", "gen_ai.response.model", "llm.request.model", "llm.model_name",
)  # fmt: skip
_SESSION: Final = (
    "gen_ai.conversation.id", "session.id", "traceloop.association.properties.session_id",
)  # fmt: skip
_TENANT: Final = (
    "enduser.id", "user.id", "gen_ai.user", "llm.user",
    "traceloop.association.properties.user_id",
)  # fmt: skip
_PROMPT: Final = ("gen_ai.input.messages", "gen_ai.prompt", "llm.prompts")
_ANSWER: Final = ("gen_ai.output.messages", "gen_ai.completion", "llm.completions")
_OTHER_OPERATIONS: Final = frozenset(
    ("embeddings", "execute_tool", "invoke_agent", "create_agent", "invoke_workflow", "retrieval")
)
_OTHER_KINDS: Final = frozenset(
    ("embedding", "rerank", "tool", "agent", "workflow", "task", "chain")
)
_MARKS: Final = (*_INPUT, *_OUTPUT, *_MODEL, "gen_ai.operation.name", "gen_ai.request.id")
_WRAPS: Final = "another call directly within it"  # beside the fields of a span in its row
_ERROR: Final = (2, "2", "STATUS_CODE_ERROR", "ERROR")


def _recognise(head: Head) -> bool:
    if {"resourceSpans", "scopeSpans"} & set(head.columns):
        return True
    return any(next(_spans(record), None) is not None for record in head.records)


def _lists(values: Mapping[str, Any], *names: str) -> Iterator[Mapping[str, Any]]:
    for name in names:
        found = values.get(name)
        for item in found if isinstance(found, list) else []:
            if isinstance(item, dict):
                yield item


def _spans(values: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every span within a record, whichever level of an export the record is."""
    for resource in _lists(values, "resourceSpans"):
        yield from _spans(resource)
    for scope in _lists(values, "scopeSpans", "instrumentationLibrarySpans"):
        yield from _spans(scope)
    yield from _lists(values, "spans")
    if "attributes" in values and ("spanId" in values or "start_time" in values):
        yield values


def _attributes(span: Mapping[str, Any]) -> dict[str, Any]:
    """Of a list of keys and typed values, or of a plain object."""
    found = span.get("attributes")
    if isinstance(found, dict):
        return dict(found)
    attributes = {}
    for pair in found if isinstance(found, list) else []:
        if isinstance(pair, dict) and isinstance(pair.get("value"), dict):
            typed = pair["value"]
            attributes[str(pair.get("key"))] = next(iter(typed.values()), None)
    return attributes


def _rows(record: Record) -> Iterable[Record]:
    """Every span is a row of its own."""
    spans = list(_spans(record.values))
    if not spans:
        raise RowProblem("record holds no spans")
    wrapping = {_parent(span) for span in spans if not _no_call(_attributes(span))} - {None}
    return [
        Record(record.line, {**span, _WRAPS: True} if _identity(span) in wrapping else span)
        for span in spans
    ]


def _row(record: Record, context: Context) -> RawRequest:
    span = record.values
    attributes = _attributes(span)
    problem = _no_call(attributes)
    if problem or span.get(_WRAPS):
        raise RowProblem(problem or "span of a call that another span tells too")
    start = _moment(span, "startTimeUnixNano", "start_time", context)
    end = _moment(span, "endTimeUnixNano", "end_time", context)
    if start is None:
        raise RowProblem("startTimeUnixNano is missing")
    duration = between_ns(start, end)
    outcome = _outcome(span, attributes)
    prompt = of_messages(_text(attributes, _PROMPT))
    return RawRequest(
        line=record.line,
        arrival_ns=start,
        input_tokens=_count(attributes, _INPUT),
        output_tokens=_count(attributes, _OUTPUT),
        thinking_tokens=_count(attributes, _THINKING),
        cached_tokens=_count(attributes, _CACHED),
        max_output_tokens=_count(attributes, _LIMIT),
        input_text=None if prompt is None else prompt.text,
        images=None if prompt is None else prompt.images,
        audio_ns=None if prompt is None else prompt.audio_ns,
        output_text=_answer(attributes),
        duration_ns=duration,
        first_token_ns=_first_token(attributes),
        outcome=outcome,
        cancel_after_ns=duration if outcome is Outcome.CANCELLED else None,
        session=first_text(*(attributes.get(name) for name in _SESSION)),
        tenant=first_text(*(attributes.get(name) for name in _TENANT)),
        model=first_text(*(attributes.get(name) for name in _MODEL)),
        request_id=_identity(span),
    )


def _no_call(attributes: Mapping[str, Any]) -> str:
    """Why a span is of no call that generates text; "" where it is."""
    operation = str(attributes.get("gen_ai.operation.name") or "").lower()
    kind = str(
        attributes.get("traceloop.span.kind")
        or attributes.get("openinference.span.kind")
        or attributes.get("llm.request.type")
        or ""
    ).lower()
    if operation in _OTHER_OPERATIONS or kind in _OTHER_KINDS:
        return "span generates no text"
    return "" if any(name in attributes for name in _MARKS) else "span is no call of a model"


def _moment(span: Mapping[str, Any], otlp: str, plain: str, context: Context) -> int | None:
    """OTLP writes nanoseconds as text, which a float would round."""
    found = span.get(otlp)
    if found not in (None, "", 0, "0"):
        if re.fullmatch(r"\d{1,19}", str(found)) is None:
            raise RowProblem(f"{otlp} is not a whole number of nanoseconds")
        return int(found)
    return optional_moment_ns(span.get(plain), plain, context)


def _outcome(span: Mapping[str, Any], attributes: Mapping[str, Any]) -> Outcome:
    """ERROR by the class in error.type; a span that ended without an error ended well."""
    status = span.get("status")
    code = status.get("code", status.get("status_code")) if isinstance(status, dict) else None
    kind = attributes.get("error.type")
    if code in _ERROR or kind is not None:
        return outcome_of_error(kind, kind)
    reasons = str(attributes.get("gen_ai.response.finish_reasons") or "")
    return Outcome.CANCELLED if "abort" in reasons else Outcome.OK


def _count(attributes: Mapping[str, Any], names: Iterable[str]) -> int | None:
    for name in names:
        if attributes.get(name) not in (None, ""):
            return optional_whole_number(attributes[name], name)
    return None


def _first_token(attributes: Mapping[str, Any]) -> int | None:
    name = next((name for name in _FIRST if attributes.get(name) not in (None, "")), None)
    return None if name is None else span_ns(attributes[name], name)


def _text(attributes: Mapping[str, Any], names: Iterable[str]) -> Any:
    name = next((name for name in names if attributes.get(name)), None)
    return None if name is None else value_or_text(attributes[name])


def _answer(attributes: Mapping[str, Any]) -> str | None:
    found = _text(attributes, _ANSWER)
    if isinstance(found, list):
        content = of_messages(found)
        return None if content is None else content.text
    return answer_text(found)


def _identity(span: Mapping[str, Any]) -> str | None:
    """Span ids are unique within their trace only."""
    context = span.get("context")
    place = context if isinstance(context, dict) else span
    return _within_trace(place, first_text(place.get("spanId"), place.get("span_id")))


def _parent(span: Mapping[str, Any]) -> str | None:
    """The identity of the span that it is directly within."""
    context = span.get("context")
    own = first_text(span.get("parentSpanId"), span.get("parent_span_id"), span.get("parent_id"))
    return _within_trace(context if isinstance(context, dict) else span, own)


def _within_trace(place: Mapping[str, Any], own: str | None) -> str | None:
    trace = first_text(place.get("traceId"), place.get("trace_id"))
    return None if own is None else f"{trace}/{own}"


FORMAT: Final = LogFormat(
    name="otel",
    title="OpenTelemetry gen_ai spans (OTLP JSON)",
    framings=(Framing.JSONL, Framing.JSON),
    clock=Clock.EPOCH,
    recognise=_recognise,
    parser=row_by_row(_row),
    rows=_rows,
    lacks=(
        "Traces are often a sample of the requests: rates are then the sample's.",
        (
            "A call that a framework and its client both traced counts twice where the two spans are of "
            "different services or exports."
        ),
    ),
    source="https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/",
)
