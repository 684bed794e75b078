"""Tokens as the server itself counts them, by the endpoint of its engine.

vLLM: https://github.com/vllm-project/vllm/blob/main/vllm/entrypoints/serve/tokenize/protocol.py (prompt or messages;
/detokenize answers `prompt`). SGLang has the same /tokenize for prompts alone, and its /detokenize answers `text`:
https://github.com/sgl-project/sglang/blob/main/python/sglang/srt/entrypoints/openai/protocol.py. llama.cpp takes
`content`, and tells the chat's text at /apply-template:
https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from vramledger.evidence import Basis
from vramledger.trial.server.asking import Asker, Refused

Post = Callable[[str, Mapping[str, Any]], Any]  # path, JSON object -> the answer's JSON, or None

_RANGE: Final = (256, 8192)  # token ids that are asked for their words; below lie bytes
_AT_ONCE: Final = 1024
_TEMPLATE_FIELDS: Final = ("chat_template_kwargs", "chat_template", "tools")


def posting(ask: Asker) -> Post:
    """Posts JSON and reads JSON; None for whatever is no sound answer."""

    def post(path: str, fields: Mapping[str, Any]) -> Any:
        answer = ask.post(path, json.dumps(fields).encode())
        if isinstance(answer, Refused):
            return None
        try:
            return json.loads(answer.body)
        except (ValueError, RecursionError):
            return None

    return post


class VllmTokens:
    """As vLLM and those that took over its endpoints."""

    name = "vllm"

    def __init__(self, post: Post, model: str, extra: Mapping[str, Any]) -> None:
        """`extra` holds what the user adds to bodies: what changes the template counts here too."""
        self.basis = Basis.MEASURED
        self.said = "Prompts are counted by the server's own tokenizer."
        self._post, self._model = post, model
        self._template = {name: extra[name] for name in _TEMPLATE_FIELDS if name in extra}

    def plain(self, text: str) -> Sequence[int] | None:
        return self._ids({"prompt": text, "add_special_tokens": False})

    def prompt(self, text: str) -> Sequence[int] | None:
        return self._ids({"prompt": text, "add_special_tokens": True})

    def chat(self, text: str) -> Sequence[int] | None:
        messages = [{"role": "user", "content": text}]
        return self._ids({"messages": messages, "add_generation_prompt": True} | self._template)

    def words(self) -> Iterator[str]:
        ids = self.plain("the the the")
        if ids and len(ids) == 3:
            yield from _words(self._text, ids[-1])

    def _ids(self, fields: Mapping[str, Any]) -> Sequence[int] | None:
        return _numbers(self._post("/tokenize", {"model": self._model, **fields}))

    def _text(self, ids: Sequence[int]) -> str | None:
        found = self._post("/detokenize", {"model": self._model, "tokens": ids})
        return _text_in(found, ("prompt", "text"))


class LlamaCppTokens:
    """As llama.cpp's server."""

    name = "llama.cpp"

    def __init__(self, post: Post, model: str, extra: Mapping[str, Any]) -> None:  # noqa: ARG002 - one form for all
        """`extra` holds what the user adds to bodies."""
        self.basis = Basis.MEASURED
        self.said = "Prompts are counted by the server's own tokenizer."
        self._post = post
        self._template = {name: extra[name] for name in _TEMPLATE_FIELDS if name in extra}

    def plain(self, text: str) -> Sequence[int] | None:
        return self._ids(text, special=False)

    def prompt(self, text: str) -> Sequence[int] | None:
        return self._ids(text, special=True)

    def chat(self, text: str) -> Sequence[int] | None:
        messages = [{"role": "user", "content": text}]
        found = self._post("/apply-template", {"messages": messages} | self._template)
        templated = _text_in(found, ("prompt",))
        return None if templated is None else self._ids(templated, special=True)

    def words(self) -> Iterator[str]:
        ids = self.plain("the the the")
        if ids and len(ids) == 3:
            yield from _words(
                lambda asked: _text_in(self._post("/detokenize", {"tokens": asked}), ("content",)),
                ids[-1],
            )

    def _ids(self, text: str, *, special: bool) -> Sequence[int] | None:
        asked = {"content": text, "add_special": special, "parse_special": True}
        return _numbers(self._post("/tokenize", asked))


ServerTokens = VllmTokens | LlamaCppTokens
DIALECTS: Final[tuple[type[ServerTokens], ...]] = (VllmTokens, LlamaCppTokens)


def server_tokens(ask: Asker, model: str, extra: Mapping[str, Any]) -> ServerTokens | None:
    """The first way of asking that the server answers soundly, None where it answers none.

    A sound answer tells longer texts from shorter ones: a server that ignores a field it does not know is not
    taken for one that counts.
    """
    post = posting(ask)
    for dialect in DIALECTS:
        made = dialect(post, model, extra)
        short, long = made.plain("the"), made.plain("the" + " the" * 8)
        if short and long and len(short) < len(long):
            return made
    return None


def _numbers(found: Any) -> Sequence[int] | None:
    """The token ids of an answer."""
    tokens = found.get("tokens") if isinstance(found, dict) else None
    if not isinstance(tokens, list):
        return None
    sound = all(isinstance(each, int) and not isinstance(each, bool) for each in tokens)
    return tokens if sound else None


def _text_in(found: Any, names: Sequence[str]) -> str | None:
    """The first text that an answer has under one of the names."""
    values = [found.get(name) for name in names] if isinstance(found, dict) else []
    return next((value for value in values if isinstance(value, str)), None)


def _words(text_of: Callable[[list[int]], str | None], the: int) -> Iterator[str]:
    """Texts of the ids of `_RANGE`: asked many at once, with the word "the", whose id is known, between them."""
    for first in range(*_RANGE, _AT_ONCE):
        asked = [each for number in range(first, first + _AT_ONCE) for each in (number, the)]
        found = text_of(asked)
        if found is None:
            return
        yield from found.split(" the")
