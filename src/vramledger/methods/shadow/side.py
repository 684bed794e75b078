"""One of the two servers: what it told of itself, and how it is asked."""

import json
from hashlib import sha256
from typing import Any, Final

from vramledger.errors import BadInput, UnknownName
from vramledger.frozen import frozen
from vramledger.methods.shadow.answer import Answer
from vramledger.methods.shadow.prompts import Prompt
from vramledger.methods.shadow.reading import document_of, read_answer
from vramledger.methods.shadow.same_text import Read, Text, body_of_text, read_of
from vramledger.trial.prompts.body import CHAT, COMPLETIONS, PATHS
from vramledger.trial.server.ask import ask_server
from vramledger.trial.server.asking import Asker
from vramledger.trial.server.facts import ServerFacts

_BOUND_TO: Final = ("quantization", "kv-cache-dtype", "attention-backend")  # evidence is
KNOWS_IDS: Final = "vllm"  # answers with the ids of tokens where asked to


@frozen
class Told:
    """What a server told of itself; None is what it did not."""

    url: str
    model: str
    engine: str | None = None
    engine_version: str | None = None
    checkpoint: str | None = None
    chat_template_sha256: str | None = None
    max_model_len: int | None = None
    rehearsal: bool = False
    quantization: str | None = None
    kv_cache_dtype: str | None = None
    attention_backend: str | None = None


@frozen
class Style:
    """How every request is put to both sides: an endpoint, the most tokens, the likeliest tokens asked for, a seed."""

    api: str
    max_tokens: int
    top: int
    seed: int
    as_ids: bool = False


def told_of(facts: ServerFacts, model: str | None) -> Told:
    """The served model of that name, or the first.

    Raises:
        BadInput: the server lists none, and none was named.
        UnknownName: it serves none of that name.
    """
    names = [each.name for each in facts.models]
    name = model or facts.model
    if name is None:
        raise BadInput(f"{facts.base} lists no model; name one with --model-a or --model-b.")
    if names and name not in names:
        raise UnknownName("model", name, names, facts.base)
    served = next((each for each in facts.models if each.name == name), None)
    template = facts.seen.chat_template
    return Told(
        facts.base,
        name,
        facts.engine,
        facts.engine_version,
        facts.seen.model if served is None else served.root or facts.seen.model,
        sha256(template.encode()).hexdigest() if template else None,
        None if served is None else served.max_model_len,
        facts.rehearsal,
        *(_argument(facts, name) for name in _BOUND_TO),
    )


def _argument(facts: ServerFacts, name: str) -> str | None:
    """Of the engine, as a text; None where it did not tell."""
    found = facts.seen.arguments.get(name)
    return None if found is None else str(found)


class Side:
    """Asks one server; may be used by several threads at once."""

    def __init__(self, url: str, key: str | None, model: str | None, timeout_s: float) -> None:
        """Ask the server what it is.

        Raises:
            BadInput: it cannot be reached, or serves no such model.
        """
        self.told = told_of(ask_server(url, key, closely=False), model)
        self._asker = Asker(self.told.url, key, timeout_s)

    def answer(self, prompt: Prompt, style: Style) -> Answer:
        """Its answer at temperature 0, or the class of the failure."""
        body = json.dumps(body_of(prompt, self.told.model, style)).encode()
        return read_answer(self._asker.post(PATHS[style.api], body))

    def read(self, text: Text, top: int) -> Read:
        """What it holds of a text of numbered tokens, with so many of the likeliest at each, or the class of the failure."""
        found = self._asker.post(PATHS[COMPLETIONS], body_of_text(text, self.told.model, top))
        document = document_of(found)
        return Read(document) if isinstance(document, str) else read_of(document, text)

    def cut(self) -> None:
        """End what is asked now, and ask nothing more."""
        self._asker.cut()


def body_of(prompt: Prompt, model: str, style: Style) -> dict[str, Any]:
    """The request: greedy, whole, with the log probabilities of the likeliest tokens."""
    shared = {
        "model": model,
        "max_tokens": style.max_tokens,
        "temperature": 0,
        "seed": style.seed,
        **({"return_tokens_as_token_ids": True, "return_token_ids": True} if style.as_ids else {}),
    }
    if style.api != CHAT:
        return {**shared, "prompt": prompt, "logprobs": style.top}
    messages = [{"role": "user", "content": prompt}] if isinstance(prompt, str) else prompt
    return {**shared, "messages": messages, "logprobs": True, "top_logprobs": style.top}


def differences(a: Told, b: Told) -> tuple[str, ...]:
    """What besides the answers tells them apart, a sentence each; what either does not tell is not compared."""
    found = [
        f"The {title} differs: A has {one}, B has {other}."
        for title, name in _COMPARED
        if (one := getattr(a, name)) is not None
        and (other := getattr(b, name)) is not None
        and one != other
    ]
    if a.rehearsal or b.rehearsal:
        found.append(
            "A rehearsal server answers invented words: their agreement says nothing of a model."
        )
    return tuple(found)


_COMPARED: Final = (
    ("name of the model", "model"),
    ("checkpoint", "checkpoint"),
    ("engine", "engine"),
    ("engine's version", "engine_version"),
    ("chat template's hash", "chat_template_sha256"),
    ("context limit in tokens", "max_model_len"),
)
