"""LiteLLM's SpendLogs: its database table, exported as CSV or JSON, or read from /spend/logs.

Source: https://github.com/BerriAI/litellm (model LiteLLM_SpendLogs of schema.prisma; SpendLogsMetadata
of litellm/proxy/_types.py).

`session_id` is the session that the client named, or else one made up for the call
(`_get_session_id_for_spend_log` of litellm/proxy/spend_tracking/spend_tracking_utils.py).
The tenant is the first that is filled of team_id, user, end_user and api_key. Whether a call failed
stands in the column status of newer versions, and within the JSON of metadata in older ones.
"""

from collections.abc import Mapping
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
from vramledger.workload.formats.parts.chat import answer_text, limit_of, of_messages
from vramledger.workload.formats.parts.embedded import first_text, mapping, value_or_text
from vramledger.workload.formats.parts.error_class import outcome_of_error
from vramledger.workload.formats.parts.times import between_ns, optional_moment_ns
from vramledger.workload.formats.parts.usage import Usage, of_usage
from vramledger.workload.raw import RawRequest, RowProblem
from vramledger.workload.timestamps import moment_ns

_COLUMNS: Final = {"request_id", "startTime", "endTime", "prompt_tokens", "completion_tokens"}
_ONE_OF: Final = {"spend", "api_key"}
_TENANTS: Final = ("team_id", "user", "end_user", "api_key")
_OTHER_CALLS: Final = (
    "embedding", "image", "rerank", "moderation", "speech", "transcription", "file", "batch",
    "assistant", "thread", "vector_store", "mcp", "search", "ocr", "video", "fine_tuning", "rag",
)  # fmt: skip


def _recognise(head: Head) -> bool:
    names = set(head.columns) or set(head.records[0] if head.records else ())
    return names >= _COLUMNS and bool(names & _ONE_OF)


def require_text_call(call_type: Any) -> None:
    """Let calls pass that generate text; LiteLLM logs every kind of call alike.

    Raises:
        RowProblem: an embedding, an image, speech or another call without generated text.
    """
    said = str(call_type or "").lower()
    if any(kind in said for kind in _OTHER_CALLS):
        raise RowProblem("call generates no text")


def status_outcome(status: Any, error: Mapping[str, Any]) -> Outcome:
    """What LiteLLM's "success" or "failure" means, with its error_information."""
    said = str(status or "").lower()
    if said == "success":
        return Outcome.OK
    if said == "failure" or error:
        return outcome_of_error(error.get("error_code"), error.get("error_class"))
    return Outcome.UNKNOWN


def _row(record: Record, context: Context) -> RawRequest:
    values = record.values
    require_text_call(values.get("call_type"))
    metadata = mapping(values.get("metadata"), "metadata")
    start = moment_ns(values.get("startTime"), "startTime", context)
    end = optional_moment_ns(values.get("endTime"), "endTime", context)
    error = mapping(metadata.get("error_information"), "error_information")
    status = first_text(values.get("status"), metadata.get("status"))
    request = RawRequest(
        line=record.line,
        arrival_ns=start,
        duration_ns=between_ns(start, end),
        outcome=status_outcome(status, error),
        link=first_text(values.get("session_id")),
        tenant=first_text(*(values.get(name) for name in _TENANTS)),
        model=first_text(values.get("model_group"), values.get("model")),
        request_id=first_text(values.get("request_id")),
    )
    first = optional_moment_ns(values.get("completionStartTime"), "completionStartTime", context)
    if first is not None and first != end:  # equal: the answer came whole
        request.first_token_ns = between_ns(start, first)
    fill_tokens(request, values, mapping(metadata.get("usage_object"), "usage_object"), context)
    _fill_texts(request, values)
    if request.outcome is Outcome.CANCELLED:
        request.cancel_after_ns = request.duration_ns
    return request


def fill_tokens(
    request: RawRequest, values: Mapping[str, Any], usage: Mapping[str, Any], context: Context
) -> None:
    """Token counts from the record's columns, and what only its usage object tells.

    A failed call counts 0 prompt tokens because nothing counted them: those stay unknown.
    """
    detail = of_usage(usage) if usage else Usage()
    prompt = optional_whole_number(values.get("prompt_tokens"), "prompt_tokens")
    request.input_tokens = prompt or detail.input_tokens or None
    if request.outcome is Outcome.OK and prompt == 0:
        request.input_tokens = 0
    request.output_tokens = optional_whole_number(
        values.get("completion_tokens"), "completion_tokens"
    )
    request.thinking_tokens, request.cached_tokens = detail.thinking_tokens, detail.cached_tokens
    if str(values.get("cache_hit") or "").lower() == "true":
        context.infer(
            "Answers that the gateway took from its own cache are kept, with all of their input as "
            "cached tokens (inferred)."
        )
        request.cached_tokens = request.input_tokens


def _fill_texts(request: RawRequest, values: Mapping[str, Any]) -> None:
    """Texts, where the proxy was told to store them."""
    sent = mapping(value_or_text(values.get("proxy_server_request")), "proxy_server_request")
    request.max_output_tokens = limit_of(sent)
    found = of_messages(value_or_text(values.get("messages"))) or of_messages(sent)
    if found is not None:
        found.put_into(request)
    request.output_text = answer_text(value_or_text(values.get("response")))


FORMAT: Final = LogFormat(
    name="litellm-spend",
    title="LiteLLM SpendLogs (CSV or JSON export)",
    framings=(Framing.CSV, Framing.JSONL, Framing.JSON, Framing.PARQUET),
    clock=Clock.EPOCH,
    recognise=_recognise,
    parser=row_by_row(_row),
    lacks=(
        "It does not tie retries to their first attempts.",
        "It names no prefixes; they follow from the prompts where those were logged.",
    ),
    source="https://github.com/BerriAI/litellm/blob/main/schema.prisma",
)
