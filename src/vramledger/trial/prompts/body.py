"""JSON bodies of requests: everything but prompt and length is written once."""

import json
from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen

CHAT: Final = "chat"
COMPLETIONS: Final = "completions"
PATHS: Final = {CHAT: "/v1/chat/completions", COMPLETIONS: "/v1/completions"}
LENGTH: Final = "$output_tokens"  # in the fields of a style: the length asked for
_PROMPT: Final = "\x00prompt"
_TOKENS: Final = "\x00tokens"
_OURS: Final[Mapping[str, str]] = {
    "model": "name it with --model",
    "messages": "use --prompts for prompts of your own",
    "prompt": "use --prompts for prompts of your own",
    "stream": "every answer is streamed",
    "stream_options": "usage is always asked for",
    "n": "each request has one answer",
    "max_tokens": "answers are as long as the workload says, and vram workload scale --output changes that",
    "max_completion_tokens": "answers are as long as the workload says, and vram workload scale --output changes that",
}


@frozen
class BodyStyle:
    """How requests are put.

    `endpoint` is "chat" or "completions". `length` holds the fields that fix an answer's length, with `LENGTH` as the
    value where the number belongs; `limit` is the field that limits it. `extra` is what the user adds: it wins.
    """

    endpoint: str
    model: str
    limit: str = "max_tokens"
    length: Mapping[str, Any] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The path of the endpoint behind the server's address."""
        return PATHS[self.endpoint]

    @property
    def is_exact(self) -> bool:
        """Whether answers have the length asked for: something fixes it, and the user did not take that back."""
        return any(self.extra.get(name, value) == value for name, value in self.length.items())

    def to_json(self) -> dict[str, Any]:
        """As JSON holds it."""
        return asdict(self)


class BodyMaker:
    """Makes bodies of one style."""

    def __init__(self, style: BodyStyle, *, as_ids: bool = False) -> None:
        """`as_ids`: prompts are the inside of a JSON list of token ids."""
        written = json.dumps(_fields(style), separators=(",", ":"))
        prompt, tokens = json.dumps(_PROMPT), json.dumps(_TOKENS)
        before, _, behind = written.partition(prompt)
        opening, closing = ("[", "]") if as_ids else ('"', '"')
        self._head = (before + opening).encode()
        self._tail = [part.encode() for part in (closing + behind).split(tokens)]
        # Of a chat: what stands around the list of messages, of which `_fields` puts one around the prompt.
        self._messages_head = before.removesuffix('[{"role":"user","content":').encode()
        self._messages_tail = [part.encode() for part in behind.removeprefix("}]").split(tokens)]

    def with_text(self, text: bytes, output_tokens: int) -> bytes:
        """A body whose prompt is `text`, which must need no escapes in JSON."""
        return b"".join((self._head, text, (b"%d" % output_tokens).join(self._tail)))

    def with_messages(self, messages: bytes, output_tokens: int) -> bytes:
        """A body of a chat with these messages, a list in JSON."""
        tail = (b"%d" % output_tokens).join(self._messages_tail)
        return b"".join((self._messages_head, messages, tail))


def extra_fields(text: str) -> dict[str, Any]:
    """The fields that a user adds to every body.

    Raises:
        BadInput: no JSON object, or it sets what the trial itself sets.
    """
    try:
        found = json.loads(text)
        json.dumps(found, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError):  # also NaN, numbers beyond all, halves of characters
        found = None
    if not isinstance(found, dict):
        raise BadInput(
            f"--body {text} is no JSON object; give fields for every request, such as "
            """'{"temperature": 0}'."""
        )
    ours = next((name for name in found if name in _OURS), None)
    if ours is not None:
        raise BadInput(
            f"--body sets {ours}, which the trial sets itself; leave it out: {_OURS[ours]}."
        )
    return found


def _fields(style: BodyStyle) -> dict[str, Any]:
    if style.endpoint == CHAT:
        prompt: dict[str, Any] = {"messages": [{"role": "user", "content": _PROMPT}]}
    else:
        prompt = {"prompt": _PROMPT}
    length = {name: _TOKENS if value == LENGTH else value for name, value in style.length.items()}
    streamed = {"stream": True, "stream_options": {"include_usage": True}}
    return (
        {"model": style.model}
        | prompt
        | streamed
        | {style.limit: _TOKENS}
        | length
        | dict(style.extra)
    )
