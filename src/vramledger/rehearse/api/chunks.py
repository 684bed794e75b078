"""The JSON of answers: chunks of a stream, and whole answers, of chats and of completions.

Field by field as vLLM 0.32 writes them. A chunk is put together from bytes that are made once a request, because there
are thousands a second.
"""

from collections.abc import Sequence
from typing import Any, Final, Protocol

import orjson

from vramledger.frozen import frozen
from vramledger.rehearse.answers import Answer

DONE: Final = b"data: [DONE]\n\n"
_LOGPROB: Final = -1.0  # of every token: the rehearsed model has no opinion


@frozen
class Identity:
    """What every chunk of an answer repeats."""

    request_id: str
    created: int
    model: str


@frozen
class Usage:
    """Tokens so far."""

    prompt: int
    completion: int

    @property
    def content(self) -> dict[str, Any]:
        """As the API counts."""
        return {
            "prompt_tokens": self.prompt,
            "total_tokens": self.prompt + self.completion,
            "completion_tokens": self.completion,
        }


@frozen
class Piece:
    """Some tokens of an answer. `finish` is None before the end; `usage` stands in the chunk where it is given."""

    texts: Sequence[str]
    finish: str | None = None
    stop: str | None = None
    usage: Usage | None = None


class Chunks(Protocol):
    """One of the two kinds of answers."""

    def role(self) -> bytes | None:
        """The chunk before all tokens, None where there is none."""

    def content(self, piece: Piece) -> bytes:
        """A chunk with tokens."""

    def usage(self, usage: Usage) -> bytes:
        """The chunk after all tokens."""

    def whole(self, answer: Answer, usage: Usage) -> bytes:
        """The body of an answer that is no stream."""


class _Framed:
    """Events that begin alike."""

    def __init__(self, identity: Identity, kind: str, whole: str, *, logprobs: bool) -> None:
        self._whole = _head(identity, whole)
        self._start = b"data: " + _compact(_head(identity, kind))[:-1] + b',"choices":['
        self._logprobs = logprobs

    def usage(self, usage: Usage) -> bytes:
        """No choices, but counts."""
        return b"%b],%b}\n\n" % (self._start, _usage(usage))

    def _event(self, choice: bytes, usage: Usage | None = None) -> bytes:
        after = b"" if usage is None else b"," + _usage(usage)
        return b"%b{%b}]%b}\n\n" % (self._start, choice, after)

    def _answered(self, choice: dict[str, Any], usage: Usage) -> bytes:
        return _compact({**self._whole, "choices": [choice], "usage": usage.content})


class ChatChunks(_Framed):
    """Of /v1/chat/completions."""

    def __init__(self, identity: Identity, *, logprobs: bool) -> None:
        super().__init__(identity, "chat.completion.chunk", "chat.completion", logprobs=logprobs)

    def role(self) -> bytes:
        """Who speaks."""
        return self._event(
            b'"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null'
        )

    def content(self, piece: Piece) -> bytes:
        """Text as a delta."""
        text = _compact("".join(piece.texts))
        logprobs = _compact(_chat_logprobs(piece.texts)) if self._logprobs else b"null"
        choice = b'"index":0,"delta":{"content":%b},"logprobs":%b,%b,"token_ids":null'
        return self._event(choice % (text, logprobs, _finish(piece)), piece.usage)

    def whole(self, answer: Answer, usage: Usage) -> bytes:
        """A message."""
        message = {"role": "assistant", "content": "".join(answer.texts), "tool_calls": []}
        logprobs = _chat_logprobs(answer.texts) if self._logprobs else None
        choice = {"index": 0, "message": message, "logprobs": logprobs}
        return self._answered(
            choice | {"finish_reason": answer.finish, "stop_reason": answer.stop}, usage
        )


class TextChunks(_Framed):
    """Of /v1/completions."""

    def __init__(self, identity: Identity, *, logprobs: bool) -> None:
        super().__init__(identity, "text_completion", "text_completion", logprobs=logprobs)
        self._offset = 0

    def role(self) -> None:
        """Nobody speaks."""

    def content(self, piece: Piece) -> bytes:
        """Text."""
        text = "".join(piece.texts)
        logprobs = _compact(self._text_logprobs(piece.texts)) if self._logprobs else b"null"
        choice = b'"index":0,"text":%b,"logprobs":%b,%b'
        return self._event(choice % (_compact(text), logprobs, _finish(piece)), piece.usage)

    def whole(self, answer: Answer, usage: Usage) -> bytes:
        """All the text."""
        logprobs = self._text_logprobs(answer.texts) if self._logprobs else None
        choice = {"index": 0, "text": "".join(answer.texts), "logprobs": logprobs}
        return self._answered(
            choice | {"finish_reason": answer.finish, "stop_reason": answer.stop}, usage
        )

    def _text_logprobs(self, texts: Sequence[str]) -> dict[str, Any]:
        offsets = []
        for text in texts:
            offsets.append(self._offset)
            self._offset += len(text)
        return {
            "text_offset": offsets,
            "token_logprobs": [_LOGPROB] * len(texts),
            "tokens": list(texts),
            "top_logprobs": [{text: _LOGPROB} for text in texts],
        }


def _head(identity: Identity, kind: str) -> dict[str, Any]:
    return {
        "id": identity.request_id,
        "object": kind,
        "created": identity.created,
        "model": identity.model,
    }


def _usage(usage: Usage) -> bytes:
    return b'"usage":' + _compact(usage.content)


def _finish(piece: Piece) -> bytes:
    if piece.finish is None:
        return b'"finish_reason":null'
    return b'"finish_reason":"%b","stop_reason":%b' % (piece.finish.encode(), _compact(piece.stop))


def _chat_logprobs(texts: Sequence[str]) -> dict[str, Any]:
    return {"content": [_chat_logprob(text) for text in texts]}


def _chat_logprob(text: str) -> dict[str, Any]:
    return {"token": text, "logprob": _LOGPROB, "bytes": list(text.encode()), "top_logprobs": []}


def _compact(content: Any) -> bytes:
    return orjson.dumps(content)
