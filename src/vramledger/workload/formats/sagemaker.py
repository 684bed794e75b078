"""SageMaker data capture: what an endpoint was sent and what it answered.

Source: https://docs.aws.amazon.com/sagemaker/latest/dg/model-monitor-data-capture-endpoint.html

A line holds request and response as the endpoint saw them, as text or in base64 (`encoding`). Tokens are
the response's own usage where it reports one; else they are counted from the texts.
"""

import base64
import binascii
from collections.abc import Iterator, Mapping
from typing import Any, Final

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
from vramledger.workload.formats.parts.usage import Usage, of_usage
from vramledger.workload.raw import RawRequest, RowProblem
from vramledger.workload.timestamps import moment_ns


def _recognise(head: Head) -> bool:
    first = head.records[0] if head.records else {}
    captured = first.get("captureData")
    return (
        isinstance(captured, Mapping) and "endpointInput" in captured and "eventMetadata" in first
    )


def _row(record: Record, context: Context) -> RawRequest:
    captured = mapping(record.values.get("captureData"), "captureData")
    event = mapping(record.values.get("eventMetadata"), "eventMetadata")
    context.assume("inferenceTime, in whole seconds, is taken as the arrival (assumed).")
    sent = value_or_text(_data(captured, "endpointInput"))
    body = sent if isinstance(sent, Mapping) else {}
    prompt = of_messages(sent)
    if prompt is None:
        raise RowProblem("captured input is no prompt")
    answer = list(_answers(_data(captured, "endpointOutput")))
    usage = _usage(answer)
    return RawRequest(
        line=record.line,
        arrival_ns=moment_ns(event.get("inferenceTime"), "inferenceTime", context),
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        thinking_tokens=usage.thinking_tokens,
        cached_tokens=usage.cached_tokens,
        max_output_tokens=limit_of(body),
        input_text=prompt.text,
        images=prompt.images,
        audio_ns=prompt.audio_ns,
        output_text=answer_text(answer),
        model=first_text(body.get("model")),
        tenant=first_text(body.get("user")),
        request_id=first_text(event.get("eventId")),
    )


def _data(captured: Mapping[str, Any], side: str) -> str:
    """The text of one side; empty where it was not captured.

    Raises:
        RowProblem: base64 that is none, or no UTF-8 within.
    """
    found = mapping(captured.get(side), side)
    data = found.get("data")
    if not isinstance(data, str):
        return ""
    if str(found.get("encoding") or "").upper() != "BASE64":
        return data
    try:
        return base64.b64decode(data, validate=True).decode()
    except (binascii.Error, UnicodeDecodeError, ValueError):
        raise RowProblem(f"{side} is not base64 of text") from None


def _answers(data: str) -> Iterator[Any]:
    """The answer: one JSON value, or the pieces of a stream, JSON a line with or without "data:"."""
    if not data.strip():
        return
    whole = value_or_text(data.strip())
    if not isinstance(whole, str):
        yield from whole if isinstance(whole, list) else [whole]
        return
    pieces = [line.removeprefix("data:").strip() for line in data.splitlines()]
    found = [value_or_text(piece) for piece in pieces if piece.startswith("{")]
    parsed = [piece for piece in found if isinstance(piece, Mapping)]
    if not parsed:
        yield {"text": data}
    elif all("choices" in piece for piece in parsed):
        yield {"text": _joined(parsed)} | {"usage": _last_usage(parsed)}
    else:
        yield from parsed


def _joined(pieces: list[Mapping[str, Any]]) -> str:
    """The text of a stream's pieces, which must not be separated."""
    return "".join(answer_text(piece) or "" for piece in pieces)


def _last_usage(pieces: list[Mapping[str, Any]]) -> Any:
    return next((piece["usage"] for piece in reversed(pieces) if piece.get("usage")), {})


def _usage(answers: list[Any]) -> Usage:
    for answer in answers:
        usage = answer.get("usage") if isinstance(answer, Mapping) else None
        if isinstance(usage, Mapping) and usage:
            return of_usage(usage)
    return Usage()


FORMAT: Final = LogFormat(
    name="sagemaker",
    title="SageMaker data capture (JSON lines)",
    framings=(Framing.JSONL,),
    clock=Clock.EPOCH,
    recognise=_recognise,
    parser=row_by_row(_row),
    lacks=(
        "It holds a sample of the requests if the capture was set to, and neither durations nor failures.",
    ),
    source="https://docs.aws.amazon.com/sagemaker/latest/dg/model-monitor-data-capture-endpoint.html",
)
