"""A shadow comparison for a terminal."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from vramledger.methods.shadow.figures import Figures
from vramledger.methods.shadow.intervals import Estimate
from vramledger.methods.shadow.result import Shadow
from vramledger.methods.shadow.side import Told
from vramledger.report.estimate import banded, nats, percent
from vramledger.report.same_text import same_text_lines
from vramledger.report.table import table

HEAD: Final = ("", "B against A", "A against itself")


def shadow_text(found: Shadow) -> str:
    """The verdict, who was compared, the figures beside those of A against itself, and what else is to be said."""
    lines = [
        f"{found.verdict.verdict}: {found.verdict.reason}",
        *_needed(found),
        f"A  {side_line(found.a)}",
        f"B  {side_line(found.b)}",
        asked_line(found),
        "",
        *table(HEAD, rows(found), frozenset({1, 2})),
        "",
        *same_text_lines(found.same_text),
        *(f"note: {each}" for each in notes(found)),
    ]
    return "\n".join(lines)


def side_line(told: Told) -> str:
    """One of the servers."""
    engine = f"{told.engine or 'engine unknown'} {told.engine_version or ''}".strip()
    return f"{told.model}, {engine}, {told.url}"


def asked_line(found: Shadow) -> str:
    """How many prompts, and how they were put."""
    style = found.style
    if style is None:
        return f"{found.answered} of {found.requests} requests at temperature 0 answered by both ({found.source})"
    return (
        f"{found.answered} of {found.requests} prompts answered by both ({found.source}), {style.api}, up to "
        f"{style.max_tokens} tokens, temperature 0"
    )


def rows(found: Shadow) -> list[tuple[str, str, str]]:
    """A figure a row, with its interval."""
    both = (found.found, found.noise)
    made = [
        (title.format(unit=found.unit), *(show(each) for each in both)) for title, show in _ROWS
    ]
    return [(title, here, there) for title, here, there in made]


def notes(found: Shadow) -> Iterator[str]:
    """What is to be said beside the figures, finished sentences."""
    yield from found.remarks
    if found.prompt_tokens_differ:
        yield (
            f"{found.prompt_tokens_differ} prompts have another number of tokens on B than on A: the tokenizer or the chat template "
            "differs, and the two were asked different things."
        )
    yield from _failures("A", found.errors_a)
    yield from _failures("B", found.errors_b)
    if found.unsent:
        yield f"{found.unsent} prompts were not asked of both."
    if found.unit == "words":
        yield "A server tells no tokens (logprobs), so words of the text were compared, and no distributions."
    if found.interrupted:
        yield "Interrupted: the figures are of the answers that had come."


def _needed(found: Shadow) -> list[str]:
    needed = found.verdict.requests_needed
    if needed is None:
        return []
    return [f"About {needed:,} prompts would decide at the figures seen: --requests {needed}."]


def _failures(side: str, errors: Mapping[str, int]) -> Iterator[str]:
    if errors:
        listed = ", ".join(f"{count} {name}" for name, count in errors.items())
        yield f"{side} failed {sum(errors.values())} requests: {listed}."


def _median(found: Figures) -> str:
    """Of the first difference, which may lie beyond the ends of the answers."""
    return banded(found.first_difference, _whole)


def _whole(value: float) -> str:
    return f"{value:.0f}"


def signed(value: float) -> str:
    """A difference."""
    return f"{value:+.1f}"


def _distribution(found: Figures, which: Estimate) -> str:
    return banded(which, nats) if found.places else "not told"


_ROWS: Final[tuple[tuple[str, Callable[[Figures], str]], ...]] = (
    ("{unit} that agree, in equal context", lambda f: banded(f.token_agreement, percent)),
    ("{unit} before the first difference", lambda f: banded(f.kept, percent)),
    ("answers exactly the same", lambda f: banded(f.exact, percent)),
    ("half have parted by place", _median),
    ("KL of the next token, nats, at least", lambda f: _distribution(f, f.kl)),
    ("Jensen-Shannon, nats, at least", lambda f: _distribution(f, f.js_low)),
    ("Jensen-Shannon, nats, at most", lambda f: _distribution(f, f.js_high)),
    ("longer by tokens an answer", lambda f: banded(f.longer, signed)),
    ("prompts", lambda f: str(f.pairs)),
)
