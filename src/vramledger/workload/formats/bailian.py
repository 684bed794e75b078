"""Qwen-Bailian: two hours of requests to one Qwen instance of Alibaba Cloud's Bailian.

`timestamp` counts seconds from the start; each of `hash_ids` stands for 16 tokens. Every request of a
conversation has a `chat_id` of its own and names the one before it in `parent_chat_id`, -1 at the first.
Source: https://github.com/alibaba-edu/qwen-bailian-usagetraces-anon (README, "Data Specification").
"""

from collections.abc import Iterable
from typing import Final

from vramledger.workload.fields import SECOND, nanoseconds, whole_number
from vramledger.workload.formats.format import Clock, Context, Framing, Head, LogFormat, Record
from vramledger.workload.formats.parts.prefix_ids import prefix_ids
from vramledger.workload.raw import RawRequest

_BLOCK: Final = 16


def _recognise(head: Head) -> bool:
    return head.has("chat_id", "parent_chat_id", "timestamp", "input_length", "output_length")


class _Chains:
    """Joins requests to conversations: each takes the session of its parent, or starts one."""

    def __init__(self) -> None:
        self._root_of: dict[str, str] = {}

    def parse(self, record: Record) -> Iterable[RawRequest]:
        values = record.values
        turn = whole_number(values.get("turn", 1), "turn")
        request = RawRequest(
            line=record.line,
            arrival_ns=nanoseconds(values.get("timestamp"), "timestamp", SECOND),
            input_tokens=whole_number(values.get("input_length"), "input_length"),
            output_tokens=whole_number(values.get("output_length"), "output_length"),
            session=self._session(str(values.get("chat_id")), str(values.get("parent_chat_id"))),
            turn=max(turn - 1, 0),
            prefix_ids=prefix_ids(values.get("hash_ids"), "hash_ids"),
        )
        return (request,)

    def finish(self) -> Iterable[RawRequest]:
        return ()

    def _session(self, chat: str, parent: str) -> str:
        """The first chat of the conversation; a parent before the file's start stands for it."""
        root = chat if parent in ("-1", "None") else self._root_of.setdefault(parent, parent)
        self._root_of[chat] = root
        return root


def _parser(context: Context) -> _Chains:
    context.infer("Conversations are the chains of chat_id and parent_chat_id (inferred).")
    return _Chains()


FORMAT: Final = LogFormat(
    name="bailian",
    title="Qwen-Bailian usage trace (hash ids of 16 tokens)",
    framings=(Framing.JSONL, Framing.JSON),
    clock=Clock.RELATIVE,
    recognise=_recognise,
    parser=_parser,
    block_tokens=_BLOCK,
    lacks=("It names no models or failures, and counts neither images nor thinking tokens.",),
    source="https://github.com/alibaba-edu/qwen-bailian-usagetraces-anon",
    per_file=True,
)
