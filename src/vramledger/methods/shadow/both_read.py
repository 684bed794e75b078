"""Has both servers read A's answers, where both tell what they held likely of a text, and makes figures of it."""

from collections.abc import Callable, Sequence
from math import exp

from vramledger.frozen import frozen
from vramledger.methods.shadow.answer import Answer
from vramledger.methods.shadow.asking import Asking, ask_all
from vramledger.methods.shadow.intervals import Estimate, Intervals
from vramledger.methods.shadow.same_text import (
    MOST_TOKENS,
    Part,
    Read,
    SameText,
    Text,
    compare_reads,
    text_of,
)
from vramledger.methods.shadow.side import KNOWS_IDS, Side, Told

RECORDED = "A's answers are a recording, which holds no text to be read again"
INTERRUPTED = "it was interrupted before the texts were read"


@frozen
class PartFigures:
    """Of one part of all texts, in nats a token. `less_likely` is by how much less B holds likely what stands there: exact.

    `perplexity_a` and `perplexity_b` are exact too; KL is a lower bound, Jensen-Shannon is bounded on both sides.
    """

    places: int
    less_likely: Estimate
    alike: Estimate
    kl: Estimate
    js_low: Estimate
    js_high: Estimate
    unlisted: Estimate
    perplexity_a: float | None
    perplexity_b: float | None


@frozen
class SameTextFigures:
    """`again` is A against itself on the answers. `reason` says why nothing was read; `too_long` texts were left out."""

    reason: str
    texts: int = 0
    too_long: int = 0
    failed_a: int = 0
    failed_b: int = 0
    prompt: PartFigures | None = None
    answer: PartFigures | None = None
    again: PartFigures | None = None
    interrupted: bool = False


def without(reason: str) -> SameTextFigures:
    """Nothing was read."""
    return SameTextFigures(reason)


def why_not(
    a: Told, b: Told, ours: Sequence[Answer | None], theirs: Sequence[Answer | None]
) -> str:
    """Why the texts are not read by both; empty where they can be."""
    for side, told in (("A", a), ("B", b)):
        if told.engine != KNOWS_IDS:
            return f"vLLM alone is known to tell it, and {side} is {told.engine or 'an unknown engine'}"
    both = [(x, y) for x, y in zip(ours, theirs, strict=True) if x is not None and y is not None]
    if not any(x.prompt_ids and x.ids and y.prompt_ids for x, y in both):
        return "the servers tell no numbers of tokens (return_token_ids)"
    if any(x.prompt_ids != y.prompt_ids for x, y in both if x.ok and y.ok):
        return "the two read the same prompts as different tokens"
    return ""


@frozen
class HowToRead:
    """The likeliest tokens asked for at each place, texts at a time, and what is told when one of so many has ended."""

    top: int
    at_once: int
    ended: Callable[[int], Callable[[], None]]


def read_by_both(
    sides: tuple[Side, Side],
    answers: Sequence[Answer | None],
    repeated: Sequence[int],
    how: HowToRead,
    by: Intervals,
) -> SameTextFigures:
    """A's texts to both, those at `repeated` to A twice."""
    told = [(place, text) for place, each in enumerate(answers) if (text := text_of(each))]
    texts = [(place, text) for place, text in told if len(text.ids) <= MOST_TOKENS]
    once = [text for _, text in texts]
    again = [number for number, (place, _) in enumerate(texts) if place in set(repeated)]
    twice = [once[number] for number in again]
    ended = how.ended(2 * len(once) + len(twice))
    a, b = sides
    askings = (
        Asking(a, lambda text: a.read(text, how.top), [*once, *twice], how.at_once, ended),
        Asking(b, lambda text: b.read(text, how.top), once, how.at_once, ended),
    )
    whole = ask_all(askings, lambda: None)
    by_a, by_b = (each.answers() for each in askings)
    first, second = by_a[: len(once)], by_a[len(once) :]
    compared = _compared(once, first, by_b)
    noise = _compared(twice, [first[number] for number in again], second)
    return SameTextFigures(
        "" if compared else "no text was read by both",
        len(compared),
        len(told) - len(texts),
        _failed(by_a),
        _failed(by_b),
        _figures([each.prompt for each in compared], by),
        _figures([each.answer for each in compared], by),
        _figures([each.answer for each in noise], by),
        interrupted=not whole,
    )


def _compared(
    texts: Sequence[Text], a: Sequence[Read | None], b: Sequence[Read | None]
) -> list[SameText]:
    return [
        compare_reads(text, x, y)
        for text, x, y in zip(texts, a, b, strict=True)
        if x is not None and y is not None and x.ok and y.ok
    ]


def _failed(reads: Sequence[Read | None]) -> int:
    return sum(each is not None and not each.ok for each in reads)


def _figures(parts: Sequence[Part], by: Intervals) -> PartFigures | None:
    """None where there is no place."""
    import numpy as np

    def column(name: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        return np.array([getattr(each, name) for each in parts], dtype=float)

    places = column("places")
    count = int(places.sum())
    if not count:
        return None
    a, b = column("own_a"), column("own_b")
    kl, js_low, js_high, unlisted = (
        by.ratio(column(name), places) for name in ("kl_low", "js_low", "js_high", "unlisted")
    )
    return PartFigures(
        places=count,
        less_likely=by.ratio(a - b, places),
        alike=by.ratio(column("alike"), places),
        kl=kl,
        js_low=js_low,
        js_high=js_high,
        unlisted=unlisted,
        perplexity_a=_perplexity(float(a.sum()) / count),
        perplexity_b=_perplexity(float(b.sum()) / count),
    )


def _perplexity(mean: float) -> float | None:
    """Of a mean log probability; None where it is beyond all numbers."""
    return exp(-mean) if mean > -700 else None
