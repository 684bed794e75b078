"""OpenTelemetry spans, a JSON object a line, as the Collector's file exporter writes them.

Form: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding. What vLLM adds to the span of a request (started with
--otlp-traces-endpoint): https://github.com/vllm-project/vllm/blob/main/vllm/tracing/utils.py; its span begins when the request
arrives, and the times in it are seconds. Of other services, a span of kind SERVER is the time a request spent in
it, and a span of kind CLIENT below it the time with whatever it called.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from vramledger.trial.stages.told import (
    DECODE,
    ENGINE,
    GATEWAY_WHOLE,
    PREFILL,
    QUEUE,
    UPSTREAM,
    Told,
)

_QUEUED: Final = "gen_ai.latency.time_in_queue"
_PARTS: Final = (
    (QUEUE, _QUEUED),
    (PREFILL, "gen_ai.latency.time_in_model_prefill"),
    (DECODE, "gen_ai.latency.time_in_model_decode"),
)
_REQUEST: Final = "gen_ai.request.id"
_KINDS: Final[Mapping[Any, str]] = {
    2: GATEWAY_WHOLE, "SPAN_KIND_SERVER": GATEWAY_WHOLE, 3: UPSTREAM, "SPAN_KIND_CLIENT": UPSTREAM,
}  # fmt: skip
_NS: Final = 1e9


def told_by_spans(line: Mapping[str, Any]) -> Iterator[Told] | None:
    """The stages of a line; None where it is none of this form."""
    return _spans(line) if isinstance(line.get("resourceSpans"), list) else None


def _spans(line: Mapping[str, Any]) -> Iterator[Told]:
    for resource in _objects(line["resourceSpans"]):
        service = _attributes(resource.get("resource")).get("service.name")
        for scope in _objects(resource.get("scopeSpans")):
            for span in _objects(scope.get("spans")):
                yield from _of_span(span, service if isinstance(service, str) else "spans")


def _of_span(span: Mapping[str, Any], service: str) -> Iterator[Told]:
    begin, end = _whole(span.get("startTimeUnixNano")), _whole(span.get("endTimeUnixNano"))
    if begin is None or end is None or end < begin:
        return
    about = _attributes(span)
    names = tuple(n for n in (span.get("traceId"), about.get(_REQUEST)) if isinstance(n, str) and n)
    if isinstance(about.get(_QUEUED), float):
        yield Told(names, ENGINE, service, begin, end)
        yield from _parts(names, service, begin, about)
    elif span.get("kind") in _KINDS:
        yield Told(names, _KINDS[span["kind"]], service, begin, end)


def _parts(
    names: tuple[str, ...], service: str, begin: int, about: Mapping[str, Any]
) -> Iterator[Told]:
    """Queue, prefill and decode one after the other; what is missing ends the row."""
    for stage, key in _PARTS:
        seconds = about.get(key)
        if not isinstance(seconds, float) or not 0 <= seconds < _NS:
            return
        end = begin + round(seconds * _NS)
        yield Told(names, stage, service, begin, end)
        begin = end


def _attributes(holder: Any) -> dict[str, Any]:
    """Texts and numbers by key; whole numbers as numbers too."""
    listed = holder.get("attributes") if isinstance(holder, Mapping) else None
    found: dict[str, Any] = {}
    for each in _objects(listed):
        value = each.get("value")
        if isinstance(value, Mapping):
            told = value.get("stringValue", value.get("doubleValue", value.get("intValue")))
            number = isinstance(told, int) and not isinstance(told, bool)
            found[str(each.get("key"))] = float(told) if number else told
    return found


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [e for e in value if isinstance(e, Mapping)] if isinstance(value, list) else []


def _whole(value: Any) -> int | None:
    """64-bit numbers stand in texts."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) < 20 else None
