"""Weka's traces of agentic coding: conversations with the prefix blocks of each of their requests.

A trace is one object with `id`, `block_size`, `hash_id_scope` and `requests`; a request has `t` (seconds
from the conversation's start), `in`, `out`, `hash_ids`, and maybe `api_time`, `ttft`, `think_time`; an
entry of type "subagent" holds requests of its own, counted from its `t`, in a conversation of their own
that shares the parent's ids. GuideLLM also takes it flat, one request a line with `id`.
Sources: https://github.com/callanjfox/agentic-coding-analysis (docs/TRACE_FORMAT.md),
https://github.com/callanjfox/kv-cache-tester (README), https://github.com/vllm-project/guidellm
(docs/guides/trace_replay.md).
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

from vramledger.workload.fields import SECOND, nanoseconds, optional_duration_ns, whole_number
from vramledger.workload.formats.format import (
    Clock,
    Context,
    Framing,
    Head,
    LogFormat,
    Record,
    row_by_row,
)
from vramledger.workload.formats.parts.block_size import stated_size
from vramledger.workload.formats.parts.embedded import first_text
from vramledger.workload.formats.parts.prefix_ids import prefix_ids
from vramledger.workload.raw import RawRequest, RowProblem

_BLOCK: Final = 64
_REQUEST: Final = {"t", "in", "out", "hash_ids"}


def _recognise(head: Head) -> bool:
    return any(_is_trace(each) or each.keys() >= _REQUEST for each in head.records)


def _is_trace(values: Mapping[str, Any]) -> bool:
    return "requests" in values and "block_size" in values


def _block_tokens(head: Head) -> int:
    return stated_size(head.records) or _BLOCK


def _rows(record: Record) -> Iterable[Record]:
    """The requests of a trace; `trace` names whose ids they share, `session` their conversation."""
    values = record.values
    if not _is_trace(values):
        return (record,)
    name = f"{values.get('id', '')} {record.line}"
    shared = {"trace": "all" if values.get("hash_id_scope") == "global" else name}
    return _requests(record.line, values, shared | {"session": name, "starts": ()})


def _requests(line: int, holder: Mapping[str, Any], about: Mapping[str, Any]) -> Iterable[Record]:
    requests = holder.get("requests")
    if not isinstance(requests, list):
        raise RowProblem("requests is not a list")
    for number, request in enumerate(requests):
        if not isinstance(request, Mapping):
            yield Record(line, {})
        elif request.get("type") == "subagent":
            inner = {
                "session": f"{about['session']} {number}",
                "starts": (*about["starts"], request.get("t")),
            }
            yield from _requests(line, request, {**about, **inner})
        else:
            yield Record(line, {**request, **about})


def _row(record: Record, _context: Context) -> RawRequest:
    values = record.values
    moments = (*values.get("starts", ()), values.get("t"))
    own = first_text(values.get("id")) or "the file's only one"
    return RawRequest(
        line=record.line,
        arrival_ns=sum(nanoseconds(each, "t", SECOND) for each in moments),
        input_tokens=whole_number(values.get("in"), "in"),
        output_tokens=whole_number(values.get("out"), "out"),
        duration_ns=optional_duration_ns(values.get("api_time"), "api_time", SECOND),
        first_token_ns=optional_duration_ns(values.get("ttft"), "ttft", SECOND),
        session=values.get("session", own),
        think_ns=optional_duration_ns(values.get("think_time"), "think_time", SECOND),
        model=first_text(values.get("model")),
        prefix_ids=_ids(values.get("hash_ids"), values.get("trace", own)),
    )


def _ids(value: Any, trace: str) -> Sequence[Hashable] | None:
    found = prefix_ids(value, "hash_ids")
    return None if found is None else [(trace, each) for each in found]


FORMAT: Final = LogFormat(
    name="weka",
    title="Weka agentic coding trace (hash ids of 64 tokens)",
    framings=(Framing.JSON, Framing.JSONL),
    clock=Clock.RELATIVE,
    recognise=_recognise,
    parser=row_by_row(_row),
    block_tokens=_BLOCK,
    block_tokens_in=_block_tokens,
    lacks=("All its conversations begin at 0 s: how they overlapped is not known.",),
    source="https://github.com/callanjfox/agentic-coding-analysis",
    per_file=True,
    rows=_rows,
)
