"""A finding: a cause that was found, or that nothing was."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from vramledger.diagnose.hypothesis import Hypothesis, NextChange
from vramledger.diagnose.picture import Picture
from vramledger.diagnose.ranking import CLEAR, FOUND
from vramledger.frozen import frozen

HEALTHY: Final = "healthy"
UNKNOWN: Final = "unknown"
_MOST: Final = 6


class Severity(StrEnum):
    """As of every finding of this program."""

    ERROR = "error"
    WARNING = "warning"
    SILENT = "silent"


@frozen
class Finding:
    """One answer. `score` and `confidence` are 0..1; `cause` is the name of a cause, `healthy` or `unknown`."""

    id: str
    severity: Severity
    message: str
    cause: str
    score: float
    confidence: float
    supports: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    next_change: NextChange | None = None


def findings_of(
    ranked: Sequence[Hypothesis], picture: Picture, *, nothing_seen: bool
) -> tuple[Finding, ...]:
    """Every cause that was found, the strongest first; else one finding that says there is none, or that nobody can know.

    `nothing_seen` is whether the run has neither requests nor server metrics.
    """
    found = [each for each in ranked if each.score >= FOUND]
    if found:
        return tuple(_finding(each, found[0], picture) for each in found[:_MOST])
    if nothing_seen:
        return (_unknown(),)
    return (_healthy(ranked),)


def _finding(each: Hypothesis, first: Hypothesis, picture: Picture) -> Finding:
    clear = each.score >= CLEAR and each.cause.harms
    named = f"{each.cause.title}."
    text = f"{named} {each.supports[0]}" if each.supports else named
    return Finding(
        id=each.cause.id,
        severity=Severity.ERROR if clear and not each.explained_by else Severity.WARNING,
        message=text,
        cause=each.cause.name,
        score=each.score,
        confidence=each.confidence * _apart(each, first),
        supports=each.supports,
        contradicts=each.contradicts,
        unseen=each.unseen,
        next_change=each.cause.change(picture),
    )


def _apart(each: Hypothesis, first: Hypothesis) -> float:
    """Another cause that is stronger makes this one less sure."""
    return 1.0 if each is first else min(each.score / first.score, 1.0)


def _healthy(ranked: Sequence[Hypothesis]) -> Finding:
    strongest = ranked[0].score if ranked else 0.0
    return Finding(
        id="D00",
        severity=Severity.SILENT,
        message="Nothing that was looked for was found: the server keeps up with this load.",
        cause=HEALTHY,
        score=1 - strongest,
        confidence=(1 - strongest) * _seen(ranked),
        supports=tuple(
            f"Not found: {each.cause.title.lower()} (score {each.score:.2f})."
            for each in ranked[:3]
        ),
        unseen=_once(text for each in ranked for text in each.unseen),
    )


def _seen(ranked: Sequence[Hypothesis]) -> float:
    """The part of the causes of which something that is needed was seen."""
    known = [
        all(sign.strength is not None for sign in each.signs if sign.needed) for each in ranked
    ]
    return sum(known) / len(known) if known else 0.0


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _unknown() -> Finding:
    return Finding(
        id="D99",
        severity=Severity.SILENT,
        message="The run has neither requests nor server metrics, so nothing can be said of its server.",
        cause=UNKNOWN,
        score=0.0,
        confidence=0.0,
        unseen=("The requests were not seen.", "The engine was not seen."),
    )
