"""From messages to tokens: each message is a mark of its role, its text and a mark of its end; then the answer begins."""

from collections.abc import Iterable
from typing import Final

from vramledger.rehearse.text.tokenizer import END, MARK_NAMES, MARKS, encode

_ROLES: Final = {
    "system": "<|system|>",
    "developer": "<|system|>",
    "user": "<|user|>",
    "assistant": "<|assistant|>",
    "tool": "<|tool|>",
}
ROLES: Final = tuple(_ROLES)
_TURN: Final = MARKS + MARK_NAMES.index("<|assistant|>")


def chat_tokens(messages: Iterable[tuple[str, str]], *, answer: bool = True) -> list[int]:
    """The prompt of messages given as (role, text): two tokens more a message, and one for the `answer` to come.

    The tokens of an answer followed by the mark of its end are those that its text has in a later prompt.
    """
    found: list[int] = []
    for role, text in messages:
        found.append(MARKS + MARK_NAMES.index(_ROLES[role]))
        found += encode(text)
        found.append(END)
    return [*found, _TURN] if answer else found
