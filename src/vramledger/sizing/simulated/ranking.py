"""The order of a card's candidates once some were simulated."""

from collections.abc import Sequence

from vramledger.sizing.candidate import Candidate, CardResult, Smaller


def passes(candidate: Candidate) -> bool:
    """Whether it was played and nothing in the simulation speaks against it."""
    return candidate.played and candidate.recommended


def ranked(card: CardResult, candidates: Sequence[Candidate]) -> CardResult:
    """Those that pass first, then those that were not played, by GPUs; then those that fail."""
    ordered = tuple(sorted(candidates, key=_rank))
    if not any(c.played for c in candidates):
        return CardResult(card.accelerator, ordered, card.smaller)
    best = next((c for c in ordered if c.recommended), None)
    return CardResult(card.accelerator, ordered, _smaller(card, ordered, best))


def _rank(candidate: Candidate) -> tuple[bool, bool, bool, int]:
    fits = candidate.fits
    return (
        not fits,
        not candidate.recommended,
        fits and not candidate.played,
        candidate.gpus if fits else 0,
    )


def _smaller(
    card: CardResult, ordered: Sequence[Candidate], best: Candidate | None
) -> Smaller | None:
    """What is smaller than the best and fails in the simulation; else what memory forbids, as before."""
    if best is None:
        return None
    failed = [c for c in ordered if c.fits and not c.recommended and c.gpus <= best.gpus]
    if failed:
        one = max(failed, key=lambda c: c.gpus)
        many = f"{one.replicas} replica{'s' if one.replicas > 1 else ''}"
        return Smaller(f"TP {one.layout.tp}, {many}", one.layout, one.replicas, one.reason, ())
    before = card.best
    same = before is not None and before.launch == best.launch and before.replicas == best.replicas
    return card.smaller if same else None
