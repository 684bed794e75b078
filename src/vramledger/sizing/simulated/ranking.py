"""The order of a card's candidates once some were simulated."""

from collections.abc import Sequence
from typing import Final

from vramledger.frozen import frozen
from vramledger.sizing.candidate import Candidate, CardResult, Smaller

TIE: Final = (
    0.01  # goodputs that differ by less are alike: which requests end inside the span decides that
)


def passes(candidate: Candidate) -> bool:
    """Whether it was played and nothing in the simulation speaks against it."""
    return candidate.played and candidate.recommended


def ranked(card: CardResult, candidates: Sequence[Candidate]) -> CardResult:
    """Those that pass first, by GPUs and merit; then those that were not played, then those that fail, by GPUs.

    Of equal GPUs goodput decides, which on as many GPUs is goodput a GPU; where that is alike, who is furthest from
    the limits of the contract, and without one the E2E latency.
    """
    most = _most_goodput(candidates)
    ordered = tuple(sorted(candidates, key=lambda one: _rank(one, most)))
    if not any(c.played for c in candidates):
        return CardResult(card.accelerator, ordered, card.smaller)
    best = next((c for c in ordered if c.recommended), None)
    return CardResult(card.accelerator, ordered, _smaller(card, ordered, best))


def _rank(candidate: Candidate, most: dict[int, float]) -> tuple[float, ...]:
    if not candidate.fits:
        return (1,)
    unplayed = not candidate.played
    order = (0, not candidate.recommended, unplayed, candidate.gpus)
    if not passes(candidate):
        return order
    merit = _merit_of(candidate)
    less = merit.goodput < (1 - TIE) * most[candidate.gpus]
    return (*order, less, merit.used, merit.e2e_s)


@frozen
class _Merit:
    """How well a candidate serves what it serves: `goodput` an hour, the tightest limit's share used, seconds."""

    goodput: float
    used: float
    e2e_s: float


def _merit_of(candidate: Candidate) -> _Merit:
    runs = () if candidate.simulated is None else candidate.simulated.runs
    waited = [run.main.e2e_p95_s for run in runs if run.people_wait]
    return _Merit(
        goodput=sum(run.main.goodput_per_hour or 0.0 for run in runs),
        used=max((run.used for run in runs), default=0.0),
        e2e_s=max((each for each in waited if each is not None), default=0.0),
    )


def _most_goodput(candidates: Sequence[Candidate]) -> dict[int, float]:
    """The highest goodput of those that pass, by GPUs."""
    most: dict[int, float] = {}
    for candidate in filter(passes, candidates):
        reached = _merit_of(candidate).goodput
        most[candidate.gpus] = max(most.get(candidate.gpus, 0.0), reached)
    return most


def _smaller(
    card: CardResult, ordered: Sequence[Candidate], best: Candidate | None
) -> Smaller | None:
    """What takes fewer GPUs than the best and fails in the simulation; else what memory forbids, as before."""
    if best is None:
        return None
    failed = [c for c in ordered if c.fits and not c.recommended and c.gpus < best.gpus]
    if failed:
        one = max(failed, key=lambda c: c.gpus)
        return Smaller(one.placed, one.layout, one.replicas, one.reason, ())
    before = card.best
    same = before is not None and before.launch == best.launch and before.replicas == best.replicas
    return card.smaller if same else None
