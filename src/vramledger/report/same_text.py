"""What two servers hold of the same text, for a terminal."""

from collections.abc import Callable
from typing import Final

from vramledger.methods.shadow.both_read import PartFigures, SameTextFigures
from vramledger.report.estimate import banded, nats, percent
from vramledger.report.table import table

_HEAD: Final = ("the same text, read by both", "A's answers", "prompts", "A's answers, A again")


def same_text_lines(found: SameTextFigures) -> list[str]:
    """The figures of each part, or why there are none."""
    if found.answer is None or found.prompt is None:
        return [f"note: What both hold of the same text is not told: {found.reason}."]
    parts = (found.answer, found.prompt, found.again)
    made = [
        (title, *("" if each is None else show(each) for each in parts)) for title, show in _ROWS
    ]
    lines = table(_HEAD, [(a, b, c, d) for a, b, c, d in made], frozenset({1, 2, 3}))
    left = found.too_long + found.failed_a + found.failed_b
    said = [
        f"note: {found.too_long} texts were too long to be read, and A failed {found.failed_a} and B {found.failed_b} of them."
    ]
    return [*lines, "", *(said if left else [])]


def _signed(value: float) -> str:
    return f"{value:+.4f}"


def _perplexity(found: PartFigures) -> str:
    told = ["beyond all numbers" if each is None else f"{each:.3f}" for each in (found.perplexity_a, found.perplexity_b)]  # fmt: skip
    return f"A {told[0]}, B {told[1]}"


_ROWS: Final[tuple[tuple[str, Callable[[PartFigures], str]], ...]] = (
    ("less likely on B, nats a token", lambda f: banded(f.less_likely, _signed)),
    ("perplexity", _perplexity),
    ("same token likeliest", lambda f: banded(f.alike, percent)),
    ("KL, nats, at least", lambda f: banded(f.kl, nats)),
    ("Jensen-Shannon, nats, at least", lambda f: banded(f.js_low, nats)),
    ("Jensen-Shannon, nats, at most", lambda f: banded(f.js_high, nats)),
    ("tokens", lambda f: f"{f.places:,}"),
)
