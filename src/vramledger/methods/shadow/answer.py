"""An answer as far as a comparison needs it: tokens by hash, and what the server held likely at each."""

from collections.abc import Mapping
from dataclasses import field
from hashlib import blake2b
from typing import Final

from vramledger.frozen import frozen

OK: Final = "ok"
STOPPED: Final = "stop"  # the answer ended by itself, not at the limit of tokens
_BYTES: Final = (
    8  # of a hash: among a million distinct tokens two are alike once in 3e7 comparisons
)


@frozen
class Step:
    """One token: its hash, and the log probabilities of the likeliest tokens at its place, by hash; itself among them."""

    token: str
    top: Mapping[str, float] = field(default_factory=dict)


@frozen
class Answer:
    """What came of one request. `error` is a fixed word, "ok" for an answer; `text` is never written unless asked for.

    `unit` says what a step is: "tokens" where the server told them, "words" where only the text came.
    `prompt_ids` and `ids` are the tokens of the prompt and the answer by number, where the server told them; they are never written.
    """

    error: str
    steps: tuple[Step, ...] = ()
    finish: str = ""
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    unit: str = "tokens"
    text: str = field(default="", repr=False)
    prompt_ids: tuple[int, ...] = field(default=(), repr=False)
    ids: tuple[int, ...] = field(default=(), repr=False)

    @property
    def ok(self) -> bool:
        """Whether there is an answer."""
        return self.error == OK

    @property
    def length(self) -> int:
        """Its tokens, as the server counts them where it does."""
        return len(self.steps) if self.output_tokens is None else self.output_tokens


def token_hash(token: bytes, key: bytes = b"") -> str:
    """What stands for a token. Without a key, whoever has the tokenizer can find the token again: it hides no text from them."""
    return blake2b(token, digest_size=_BYTES, key=key).hexdigest()
