"""One chunk of a streamed answer of the OpenAI API, chat or completions, in the dialects of the engines.

Fields: https://platform.openai.com/docs/api-reference/chat-streaming (delta, finish_reason, usage, logprobs) and
https://docs.vllm.ai/en/latest/features/reasoning_outputs.html (reasoning, formerly reasoning_content). vLLM
sends an event with an empty text for a token whose text is not complete yet, such as the first half of a
character; usage in every chunk comes with `continuous_usage_stats`.
"""

from typing import Any, Final

import orjson

from vramledger.frozen import frozen

DONE: Final = b"[DONE]"
_THINKING: Final = ("reasoning_content", "reasoning")
_OTHER_ANSWERS: Final = ("tool_calls", "function_call", "refusal", "audio")
BROKEN_ENDS: Final = frozenset({"abort", "error"})  # finish reasons of engines that gave up


class BadChunk(Exception):
    """Not a chunk of the API; `failure` is its class."""

    def __init__(self, failure: str) -> None:
        super().__init__(failure)
        self.failure = failure


@frozen
class Usage:
    """What the server counted so far."""

    prompt: int | None
    completion: int | None
    cached: int | None


@frozen
class Text:
    """A text and the JSON key it stood under."""

    key: str
    text: str


@frozen
class Chunk:
    """What one chunk brought.

    `thinking` and `answer` are whether there is text of that kind; `empty` is whether there is a text without
    a letter, which may stand for a token. `tokens` is how many tokens the chunk itself lists, None where it
    lists none. `text` is the text where there is exactly one, for `shape_of`.
    """

    id: str | None = None
    choices: bool = False
    role: bool = False
    thinking: bool = False
    answer: bool = False
    empty: bool = False
    finish: str | None = None
    tokens: int | None = None
    usage: Usage | None = None
    error: str | None = None
    text: Text | None = None


def read_chunk(data: bytes) -> Chunk:
    """What an event's data say.

    Raises:
        BadChunk: they are not JSON (`bad_json`), or not of the API (`bad_chunk`).
    """
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        raise BadChunk("bad_json") from None
    if not isinstance(found, dict):
        raise BadChunk("bad_chunk")
    error = _error(found)
    if error is not None:
        return Chunk(error=error)
    choices = found.get("choices")
    name = found.get("id")
    identity = name if isinstance(name, str) and name else None
    usage = _usage(found.get("usage"))
    if choices is None:
        return Chunk(id=identity, usage=usage)
    if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
        raise BadChunk("bad_chunk")
    if len(choices) == 1:
        return _choice(choices[0], identity, usage)
    return _joined([_choice(choice, identity, usage) for choice in choices], identity, usage)


def _choice(choice: dict[str, Any], identity: str | None, usage: Usage | None) -> Chunk:
    delta = choice.get("delta")
    if delta is None:
        delta = {"content": choice["text"]} if "text" in choice else {}
        key = "text"
    else:
        key = "content"
    if not isinstance(delta, dict):
        raise BadChunk("bad_chunk")
    content = delta.get("content")
    thought = _thought(delta)
    other = any(delta.get(name) for name in _OTHER_ANSWERS)
    finish = choice.get("finish_reason")
    answer = bool(content) or other
    texts = [Text(key, content)] if isinstance(content, str) and content else []
    if thought is not None:
        texts.append(thought)
    return Chunk(
        id=identity,
        choices=True,
        role=isinstance(delta.get("role"), str),
        thinking=thought is not None,
        answer=answer,
        empty=not answer and thought is None and (content == "" or _empty_thought(delta)),
        finish=finish if isinstance(finish, str) else None,
        tokens=_listed(choice),
        usage=usage,
        text=texts[0] if len(texts) == 1 and not other else None,
    )


def _thought(delta: dict[str, Any]) -> Text | None:
    """The thinking in a delta."""
    for name in _THINKING:
        text = delta.get(name)
        if isinstance(text, str) and text:
            return Text(name, text)
    return None


def _empty_thought(delta: dict[str, Any]) -> bool:
    return any(delta.get(name) == "" for name in _THINKING)


def _joined(chunks: list[Chunk], identity: str | None, usage: Usage | None) -> Chunk:
    """Several choices of one chunk, or none, as one."""
    counts = [chunk.tokens for chunk in chunks]
    known = [count for count in counts if count is not None]
    return Chunk(
        id=identity,
        choices=bool(chunks),
        role=any(chunk.role for chunk in chunks),
        thinking=any(chunk.thinking for chunk in chunks),
        answer=any(chunk.answer for chunk in chunks),
        empty=bool(chunks) and all(chunk.empty for chunk in chunks),
        finish=next((chunk.finish for chunk in chunks if chunk.finish), None),
        tokens=sum(known) if known and len(known) == len(counts) else None,
        usage=usage,
    )


def _listed(choice: dict[str, Any]) -> int | None:
    """How many tokens the choice lists, by their probabilities or by their ids."""
    logprobs, ids = choice.get("logprobs"), choice.get("token_ids")
    if isinstance(ids, list):
        return len(ids)
    if isinstance(logprobs, dict):
        listed = logprobs.get("content", logprobs.get("tokens"))
        return len(listed) if isinstance(listed, list) else None
    return None


def _usage(found: object) -> Usage | None:
    if not isinstance(found, dict):
        return None
    details = found.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    return Usage(
        _count(found.get("prompt_tokens")), _count(found.get("completion_tokens")), _count(cached)
    )


def _count(found: object) -> int | None:
    return found if type(found) is int and 0 <= found < 1 << 31 else None


def _error(found: dict[str, Any]) -> str | None:
    """The server's message where the data are an error: an object of its own, or an `object` of that name."""
    error = found.get("error")
    if error:
        message = error.get("message") if isinstance(error, dict) else error
        return str(message)
    if found.get("object") == "error":
        return str(found.get("message"))
    return None
