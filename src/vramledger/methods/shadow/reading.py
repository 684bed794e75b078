"""A server's answer, not streamed, as an `Answer`.

Chats carry ``logprobs.content[]`` (https://platform.openai.com/docs/api-reference/chat/object), completions four lists side by
side (https://platform.openai.com/docs/api-reference/completions/object); llama.cpp writes both in the form of chats.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from vramledger.methods.shadow.answer import OK, Answer, Step, token_hash
from vramledger.trial.server.asking import Refused

if TYPE_CHECKING:
    from vramledger.trial.sampling.fetching import Fetched

_WORD: Final = re.compile(r"\S+")
_ID: Final = "token_id:"
_BAD: Final = Answer("bad_json")


def read_answer(found: "Fetched | Refused") -> Answer:
    """The answer; what cannot be read is one with the class of its failure."""
    document = document_of(found)
    return Answer(document) if isinstance(document, str) else answer_of(document)


def document_of(found: "Fetched | Refused") -> Any:
    """The answer's JSON; a text is the class of a failure."""
    if isinstance(found, Refused):
        return found.error_class
    try:
        document = json.loads(found.body)
    except (ValueError, RecursionError):
        return "bad_json"
    return "bad_json" if isinstance(document, str) else document


def answer_of(document: Any) -> Answer:
    """The first choice of an answer's JSON."""
    choices = _of(document, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = _of(choice, "message")
    text = _of(choice, "text") if message is None else _of(message, "content") or ""
    if not isinstance(text, str):
        return _BAD
    steps = steps_of(_of(choice, "logprobs"))
    usage = _of(document, "usage")
    thought = _of(message, "reasoning_content") or _of(message, "reasoning")
    said = (_string(thought) or "") + text
    return Answer(
        OK,
        steps or _words(said),
        _string(_of(choice, "finish_reason")) or "",
        _count(_of(usage, "prompt_tokens")),
        _count(_of(usage, "completion_tokens")),
        "tokens" if steps else "words",
        said,
        _ids(_of(choice, "prompt_token_ids") or _of(document, "prompt_token_ids")),
        _ids(_of(choice, "token_ids")),
    )


def as_words(answer: Answer) -> Answer:
    """The answer as words of its text, as if its server had told no tokens."""
    return replace(answer, steps=_words(answer.text), unit="words", output_tokens=None)


def _words(text: str) -> tuple[Step, ...]:
    """Each with the blanks before it; one pattern for both would take the square of the blanks at the end."""
    ends = [0, *(found.end() for found in _WORD.finditer(text))]
    return tuple(
        Step(token_hash(text[begin:end].encode(errors="surrogatepass")))
        for begin, end in pairwise(ends)
    )


def steps_of(logprobs: Any, key: bytes = b"") -> tuple[Step, ...]:
    """The tokens that a choice lists with their log probabilities; `key` is that of their hashes."""
    content = _of(logprobs, "content")
    if isinstance(content, list):
        return tuple(_chat_step(each, key) for each in content if _of(each, "token") is not None)
    tokens, own = _of(logprobs, "tokens"), _of(logprobs, "token_logprobs")
    if not isinstance(tokens, list):
        return ()
    top = _of(logprobs, "top_logprobs")
    return tuple(
        _text_step(str(token), _at(own, place), _at(top, place), key)
        for place, token in enumerate(tokens)
    )


def _chat_step(entry: Any, key: bytes) -> Step:
    listed = _of(entry, "top_logprobs")
    others = listed if isinstance(listed, list) else []
    told = [(_hash(each, key), _of(each, "logprob")) for each in (*others, entry)]
    return _step(_hash(entry, key), told)


def _text_step(token: str, own: Any, top: Any, key: bytes) -> Step:
    others = top.items() if isinstance(top, Mapping) else ()
    name = token_hash(token.encode(errors="surrogatepass"), key)
    told = [(token_hash(str(n).encode(errors="surrogatepass"), key), p) for n, p in others]
    return _step(name, [*told, (name, own)])


def _step(name: str, listed: list[tuple[str, Any]]) -> Step:
    """Without what is no log probability; a server that tells nothing of the others has told no distribution."""
    sound = {each: min(0.0, float(p)) for each, p in listed if _is_number(p)}
    return Step(name, sound if len(sound) > 1 else {})


def _hash(entry: Any, key: bytes) -> str:
    """By its bytes where they are told: parts of a character look alike as text.

    vLLM 0.32 tells the bytes of the text beside the id of the chosen token, and those of the id beside the others': the id decides.
    """
    token, told = _string(_of(entry, "token")) or "", _of(entry, "bytes")
    if token.startswith(_ID):
        return token_hash(token.encode(), key)
    if isinstance(told, list) and told and all(isinstance(b, int) and 0 <= b < 256 for b in told):
        return token_hash(bytes(told), key)
    return token_hash(token.encode(errors="surrogatepass"), key)


def _is_number(found: Any) -> bool:
    return isinstance(found, int | float) and not isinstance(found, bool) and isfinite(found)


def _of(found: Any, name: str) -> Any:
    return found.get(name) if isinstance(found, dict) else None


def _at(found: Any, place: int) -> Any:
    return found[place] if isinstance(found, list) and place < len(found) else None


def _string(found: Any) -> str | None:
    return found if isinstance(found, str) else None


def _ids(found: Any) -> tuple[int, ...]:
    """Ids of tokens; empty where they are not told."""
    told = isinstance(found, list) and all(type(each) is int and each >= 0 for each in found)
    return tuple(found) if told else ()


def _count(found: Any) -> int | None:
    sound = isinstance(found, int) and not isinstance(found, bool) and found >= 0
    return found if sound else None
