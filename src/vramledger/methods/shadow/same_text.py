"""Both servers read the same text and say at every token how likely they held it, and what they held likelier (teacher forcing).

The text is a prompt and A's answer to it, as numbers of tokens, put as a prompt to both. Nothing is decided by what was said before a
place, so answers that part early are compared to their end. vLLM tells it as ``prompt_logprobs`` of a completion
(https://docs.vllm.ai/en/latest/api/vllm/sampling_params/), the token's own log probability always among them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.methods.shadow.answer import OK, Answer
from vramledger.methods.shadow.divergence import Apart, apart

MOST_TOKENS: Final = 4096  # of a text: a server makes a row of its whole vocabulary for each


@frozen
class Text:
    """Tokens by number; the answer begins at `answer_at`."""

    ids: tuple[int, ...]
    answer_at: int


@frozen
class Place:
    """The log probability of the token that stands there, and of the likeliest ones by number, itself among them."""

    own: float
    top: Mapping[int, float]


@frozen
class Read:
    """What a server said of a text: one place a token after the first. `error` is "ok" or the class of a failure."""

    error: str
    places: tuple[Place, ...] = field(default=(), repr=False)

    @property
    def ok(self) -> bool:
        """Whether it was read."""
        return self.error == OK


@frozen
class Part:
    """Sums over some places of one text, in nats: of ln p of the tokens that stand there, and of what lies between the distributions.

    `alike` counts the places at which both hold the same token likeliest.
    """

    places: int
    own_a: float
    own_b: float
    alike: int
    kl_low: float
    js_low: float
    js_high: float
    unlisted: float


@frozen
class SameText:
    """One text, read by both."""

    prompt: Part
    answer: Part


def text_of(answer: Answer | None) -> Text | None:
    """A prompt and A's answer to it; None where the numbers of the tokens are not known, or there is nothing to read."""
    if answer is None or not answer.ok or not answer.prompt_ids or not answer.ids:
        return None
    return Text((*answer.prompt_ids, *answer.ids), len(answer.prompt_ids))


def body_of_text(text: Text, model: str, top: int) -> bytes:
    """The request: one token is made, since an engine makes one at least."""
    return json.dumps(
        {"model": model, "prompt": text.ids, "max_tokens": 1, "temperature": 0, "prompt_logprobs": top}
    ).encode()  # fmt: skip


def read_of(document: Any, text: Text) -> Read:
    """What a completion says of its prompt."""
    choices = document.get("choices") if isinstance(document, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    listed = choice.get("prompt_logprobs") if isinstance(choice, dict) else None
    if not isinstance(listed, list) or len(listed) != len(text.ids):
        return Read("no_prompt_logprobs")
    try:
        places = tuple(
            _place(told, token) for told, token in zip(listed[1:], text.ids[1:], strict=True)
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return Read("no_prompt_logprobs")
    return Read(OK, places)


def _place(told: Mapping[str, Mapping[str, Any]], token: int) -> Place:
    top = {int(name): min(0.0, float(each["logprob"])) for name, each in told.items()}
    return Place(top[token], top)


def compare_reads(text: Text, a: Read, b: Read) -> SameText:
    """Both must have read it."""
    at = text.answer_at - 1  # the first token has no place
    return SameText(
        _part(a.places[:at], b.places[:at]),
        _part(a.places[at:], b.places[at:]),
    )


def _part(a: Sequence[Place], b: Sequence[Place]) -> Part:
    between: list[Apart] = [apart(x.top, y.top) for x, y in zip(a, b, strict=True)]
    return Part(
        len(between),
        sum(each.own for each in a),
        sum(each.own for each in b),
        sum(_likeliest(x) == _likeliest(y) for x, y in zip(a, b, strict=True)),
        sum(each.kl_low for each in between),
        sum(each.js_low for each in between),
        sum(each.js_high for each in between),
        sum(each.unlisted for each in between),
    )


def _likeliest(place: Place) -> int:
    """Ties by number, so that equal servers find the same."""
    return min(place.top, key=lambda token: (-place.top[token], token))
