"""The GPUs that the slow end of the step times costs a card, where another layout does with fewer as expected."""

from dataclasses import replace
from typing import Final

from vramledger.sizing.candidate import Candidate, CardResult, Margin

_MARGIN: Final = "slow end of the step times (simulated)"


def with_cost_told(card: CardResult) -> CardResult:
    """The card whose best candidate says with how few GPUs another played one serves as expected.

    Of its own precision; nothing is added where its own replicas already tell as much.
    """
    best = card.best
    fewer = None if best is None or not best.played else _fewest_as_expected(card, best)
    if best is None or fewer is None:
        return card
    saved = best.gpus - fewer.gpus
    if any(margin.name.startswith(_MARGIN[:-1]) for margin in best.margins):
        return card
    told = replace(
        best,
        reason=f"{best.reason} {_gpus(fewer.gpus)} as expected ({fewer.placed}), {best.gpus} at the slow "
        "end of the step times (simulated).",
        margins=(*best.margins, Margin(_MARGIN, 0, saved)),
    )
    return replace(card, candidates=tuple(told if c is best else c for c in card.candidates))


def _fewest_as_expected(card: CardResult, best: Candidate) -> Candidate | None:
    """What fails only at the slow end, on fewer GPUs than the best."""
    alike = (c for c in card.candidates if c.fits and c.played and c.precision == best.precision)
    fewer = [c for c in alike if not c.surely_fails and c.gpus < best.gpus]
    return min(fewer, key=lambda c: c.gpus, default=None)


def _gpus(number: int) -> str:
    return f"{number} GPU{'s' if number > 1 else ''}"
