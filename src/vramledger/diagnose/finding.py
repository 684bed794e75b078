"""A finding: a cause that was found, or that nothing was."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from math import isnan
from typing import Final

import numpy as np

from vramledger.diagnose.hypothesis import Hypothesis, NextChange
from vramledger.diagnose.picture import Picture, slow_first_tokens, slow_tokens
from vramledger.diagnose.ranking import CLEAR, FOUND
from vramledger.diagnose.seen.server_alone import FEWEST, idle
from vramledger.frozen import frozen
from vramledger.units import format_seconds

HEALTHY: Final = "healthy"
UNKNOWN: Final = "unknown"
_MOST: Final = 6
_GROWN: Final = 3.0
_NOTHING: Final = (
    "The run has neither requests nor server metrics, so nothing can be said of its server."
)


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
        return (_unknown(_NOTHING, ("The requests were not seen.", "The engine was not seen.")),)
    why = slow_and_unseen(picture) or too_little_seen(picture)
    return (_unknown(why, picture.evidence.missing),) if why else (_healthy(ranked),)


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


def slow_and_unseen(picture: Picture) -> str:
    """A sentence where requests are slow while the engine was not seen, so that nobody can say why; else empty."""
    if picture.evidence.moments is not None:
        return ""
    ttft = picture.evidence.requests.ttft_s
    told = ttft[np.isfinite(ttft)]
    if not len(told):
        return "No request got a token, and the engine was not seen, so that the cause cannot be known."
    late, grown = float(np.quantile(told, 0.95)), _grown(told)
    if not slow_first_tokens(picture) and (
        grown <= _GROWN or not isnan(picture.evidence.slow.ttft)
    ):
        return _slow_tokens(picture)
    return (
        f"Requests are slow (one in twenty waits {late:.2g} s or more for its first token, and the last third waits {grown:.1f} times as long as the first), "
        "and the engine was not seen, so that the cause cannot be known."
    )


def _slow_tokens(picture: Picture) -> str:
    """The same where first tokens come soon and the later ones are slow."""
    if not slow_tokens(picture.evidence):
        return ""
    pace, tpot = picture.expected_pace, picture.stages.tpot_s
    beside = "no simulation says what it should take" if isnan(pace) else f"that is {pace:.2f} times what the simulator expects of this load"  # fmt: skip
    return f"Tokens are slow ({format_seconds(tpot)} each on average), {beside}, and the engine was not seen, so that the cause cannot be known."


def too_little_seen(picture: Picture) -> str:
    """A sentence where a server alone was looked at and served nobody, or for too short a time; else empty."""
    evidence = picture.evidence
    if len(evidence.requests) or evidence.moments is None or evidence.look is None:
        return ""
    pages = len(evidence.moments.t_s)
    if pages < FEWEST:
        return f"Only {pages} metrics pages were read, and {FEWEST} are the fewest that say anything; look for longer."
    if idle(evidence):
        return "Nobody was served while the server was looked at, so that nothing can be said of how it serves; look again under load."
    return ""


def _grown(ttft: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> float:
    """The median of the last third over that of the first; 1 where there are too few."""
    third = len(ttft) // 3
    if third < 10:
        return 1.0
    return float(np.median(ttft[-third:]) / max(float(np.median(ttft[:third])), 0.05))


def _unknown(message: str, unseen: Sequence[str]) -> Finding:
    return Finding(
        id="D99",
        severity=Severity.SILENT,
        message=message,
        cause=UNKNOWN,
        score=0.0,
        confidence=0.0,
        unseen=tuple(unseen),
    )
