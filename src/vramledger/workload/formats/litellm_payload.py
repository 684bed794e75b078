"""LiteLLM's StandardLoggingPayload, as its callbacks write it to S3, GCS or a file.

Source: https://docs.litellm.ai/docs/proxy/logging_spec

`response_time` is the time to the first token where the call streamed. `trace_id` is the session that
the client named, or else one made up for the call (`_get_standard_logging_payload_trace_id` of
litellm_core_utils/litellm_logging.py). Attempts of one request share it, and each has its own `id`:
an attempt that follows a failed one of its trace is its retry. The tenant is the first that is filled of metadata.user_api_key_team_id,
metadata.user_api_key_user_id, end_user and metadata.user_api_key_hash.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from vramledger.record.outcome import Outcome
from vramledger.workload.formats.format import Clock, Context, Framing, Head, LogFormat, Record
from vramledger.workload.formats.litellm_spend import (
    fill_tokens,
    require_text_call,
    status_outcome,
)
from vramledger.workload.formats.parts.chat import answer_text, limit_of, of_messages
from vramledger.workload.formats.parts.embedded import first_text, mapping, value_or_text
from vramledger.workload.formats.parts.times import (
    between_ns,
    optional_moment_ns,
    optional_span_ns,
)
from vramledger.workload.raw import RawRequest
from vramledger.workload.timestamps import moment_ns

_FIELDS: Final = {"id", "call_type", "startTime", "prompt_tokens", "completion_tokens"}
_ONE_OF: Final = {"trace_id", "hidden_params", "model_map_information", "response_cost"}
_ENVELOPE: Final = "standard_logging_object"  # where a callback dumped all its arguments
_TENANTS: Final = ("user_api_key_team_id", "user_api_key_user_id")


def _recognise(head: Head) -> bool:
    if not head.records:
        return False
    names = set(_payload(head.records[0]))
    return names >= _FIELDS and bool(names & _ONE_OF)


def _payload(values: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = values.get(_ENVELOPE)
    return inner if isinstance(inner, Mapping) else values


class _Parser:
    """Knows the last failed attempt of each trace."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._failed: dict[str, str] = {}  # trace -> id of the attempt

    def parse(self, record: Record) -> Iterable[RawRequest]:
        values = _payload(record.values)
        require_text_call(values.get("call_type"))
        request = _request(record.line, values, self._context)
        trace = first_text(values.get("trace_id"))
        if trace is not None and request.request_id is not None:
            request.retry_of = self._failed.pop(trace, None)
            if request.outcome not in (Outcome.OK, Outcome.UNKNOWN):
                self._failed[trace] = request.request_id
        return (request,)

    def finish(self) -> Iterable[RawRequest]:
        return ()


def _request(line: int, values: Mapping[str, Any], context: Context) -> RawRequest:
    metadata = mapping(values.get("metadata"), "metadata")
    start = moment_ns(values.get("startTime"), "startTime", context)
    end = optional_moment_ns(values.get("endTime"), "endTime", context)
    error = mapping(values.get("error_information"), "error_information")
    session = first_text(values.get("session_id"))
    request = RawRequest(
        line=line,
        arrival_ns=start,
        logged_ns=end,
        duration_ns=between_ns(start, end),
        first_token_ns=_first_token(values, start, end, context),
        outcome=status_outcome(values.get("status"), error),
        session=session,
        link=first_text(values.get("trace_id")) if session is None else None,
        tenant=first_text(
            *(metadata.get(name) for name in _TENANTS),
            values.get("end_user"),
            metadata.get("user_api_key_hash"),
        ),
        model=first_text(values.get("model_group"), values.get("model")),
        request_id=first_text(values.get("id")),
        max_output_tokens=limit_of(mapping(values.get("model_parameters"), "model_parameters")),
    )
    fill_tokens(request, values, mapping(metadata.get("usage_object"), "usage_object"), context)
    found = of_messages(value_or_text(values.get("messages")))
    if found is not None:
        found.put_into(request)
    request.output_text = answer_text(value_or_text(values.get("response")))
    if request.outcome is Outcome.CANCELLED:
        request.cancel_after_ns = request.duration_ns
    return request


def _first_token(
    values: Mapping[str, Any], start: int, end: int | None, context: Context
) -> int | None:
    """None where the answer came whole; a call that does not say streamed if it began before its end."""
    if values.get("stream") is False or values.get("status") == "failure":
        return None
    first = optional_moment_ns(values.get("completionStartTime"), "completionStartTime", context)
    if first is not None and first != end:
        return between_ns(start, first)
    if values.get("stream") is True:
        return optional_span_ns(values.get("response_time"), "response_time")
    return None


FORMAT: Final = LogFormat(
    name="litellm-payload",
    title="LiteLLM StandardLoggingPayload (JSON lines of its callbacks)",
    framings=(Framing.JSONL, Framing.JSON),
    clock=Clock.EPOCH,
    recognise=_recognise,
    parser=_Parser,
    lacks=("It names no prefixes; they follow from the prompts where those were logged.",),
    source="https://docs.litellm.ai/docs/proxy/logging_spec",
)
