"""Conversations as ShareGPT, LMSYS-Chat-1M and chat fine-tuning sets write them: texts without times.

Every answer of the model is one request: its prompt is all that was said before it, joined by a newline
(the chat template of a model would add a few tokens a turn). An answer that nothing precedes is part
of later prompts and no request.
Sources: https://github.com/lm-sys/FastChat (data/dummy_conversation.json),
https://huggingface.co/datasets/lmsys/lmsys-chat-1m.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.workload.formats.format import Clock, Context, Framing, Head, LogFormat, Record
from vramledger.workload.formats.parts.chat import answer_text, of_messages
from vramledger.workload.formats.parts.embedded import first_text
from vramledger.workload.raw import RawRequest, RowProblem

_LISTS: Final = ("conversations", "conversation", "messages")
_ANSWERERS: Final = ("gpt", "assistant", "chatgpt", "bing", "bard", "model")
_BESIDE_MESSAGES: Final = {"id", "messages", "source", "model", "system", "tools"}


def _recognise(head: Head) -> bool:
    return any(_is_conversation(each) for each in head.records)


def _is_conversation(record: Mapping[str, Any]) -> bool:
    """`messages` alone is common to many logs: there it must be about all that the record holds."""
    for name in _LISTS:
        turns = record.get(name)
        if isinstance(turns, list) and turns and isinstance(turns[0], Mapping):
            keys = turns[0].keys()
            told = {"from", "value"} <= keys or {"role", "content"} <= keys
            return told and (name != "messages" or record.keys() <= _BESIDE_MESSAGES)
    return False


@frozen
class _Turn:
    text: str
    images: int
    answers: bool


class _Conversations:
    def __init__(self, context: Context) -> None:
        self._context = context

    def parse(self, record: Record) -> Iterable[RawRequest]:
        turns = [_turn(each) for each in _turns(record.values)]
        requests = list(self._requests(record, turns))
        if not requests:
            raise RowProblem("the conversation holds no answer to anything")
        return requests

    def finish(self) -> Iterable[RawRequest]:
        return ()

    def _requests(self, record: Record, turns: list[_Turn]) -> Iterable[RawRequest]:
        said: list[str] = []
        images = number = 0
        for turn in turns:
            if turn.answers and said:
                yield RawRequest(
                    line=record.line,
                    input_text="\n".join(said),
                    output_text=turn.text,
                    session=f"{_name(record.values)} {record.line}",
                    turn=number,
                    model=first_text(record.values.get("model")),
                    images=images or None,
                )
                number += 1
            elif turn.answers:
                self._context.infer(
                    "An answer at the start of a conversation, which nothing asked for, is part of "
                    "later prompts and no request (inferred)."
                )
            said.append(turn.text)
            images += turn.images


def _turns(values: Mapping[str, Any]) -> list[Any]:
    for name in _LISTS:
        if isinstance(values.get(name), list):
            found: list[Any] = values[name]
            return found
    raise RowProblem("the list of turns is missing")


def _turn(value: Any) -> _Turn:
    if not isinstance(value, Mapping):
        raise RowProblem("a turn is not an object")
    role = value.get("from", value.get("role"))
    if not isinstance(role, str):
        raise RowProblem("a turn does not say who speaks")
    text = value["value"] if isinstance(value.get("value"), str) else answer_text(value)
    content = of_messages([value])
    images = 0 if content is None else content.images
    return _Turn(text or "", images, role.lower() in _ANSWERERS)


def _name(values: Mapping[str, Any]) -> str:
    return str(values.get("id", values.get("conversation_id", "")))


def _parser(context: Context) -> _Conversations:
    context.infer(
        "Each answer is one request; its prompt is all that was said before it in the conversation (inferred)."
    )
    return _Conversations(context)


FORMAT: Final = LogFormat(
    name="sharegpt",
    title="ShareGPT, LMSYS or chat fine-tuning conversations",
    framings=(Framing.JSON, Framing.JSONL, Framing.PARQUET),
    clock=Clock.NONE,
    recognise=_recognise,
    parser=_parser,
    lacks=(
        "It has no times: rates, bursts and concurrency are not known.",
        "It has no token counts: they are counted from the texts.",
    ),
    source="https://github.com/lm-sys/FastChat",
    per_file=True,
)
