"""What an effect comes to once there are many figures: Holm's correction, and the size that matters.

The answer is about any of the figures, so what must be rare is a single false one: the family-wise error, which S. Holm's step-down
keeps whatever the figures share (Scandinavian Journal of Statistics 6, 1979, 65-70); latencies of the same requests share nearly
everything. Y. Benjamini and Y. Hochberg's would keep the share of false ones among those found, which suits a search among
hundreds and not a statement on twenty.
"""

from collections.abc import Sequence
from enum import StrEnum
from math import isfinite

from vramledger.compare.effect import Effect
from vramledger.compare.figures import Figure
from vramledger.compare.sample_size import ALPHA, requests_needed, runs_needed, smallest_seen
from vramledger.frozen import frozen


class Standing(StrEnum):
    """What can be said of one figure."""

    DIFFERS = "differs"
    SMALL = "differs by less than matters"
    NONE = "no detectable difference"
    SAME = "the same within what matters"
    OPEN = "cannot be told"


@frozen
class Finding:
    """One figure. `chosen` is the way that counts; `p` is corrected for all figures, None where nothing was tested.

    `smallest` is the least effect that this sample finds with a power of 80 %; `requests` or `runs` is what a side should have to find
    one of the practical size.
    """

    figure: Figure
    chosen: Effect
    paired: Effect | None
    unpaired: Effect | None
    equal_length: Effect | None
    p: float | None
    standing: Standing
    smallest: float | None
    requests: int | None
    runs: int | None


@frozen
class Measured:
    """A figure before the correction."""

    figure: Figure
    paired: Effect | None
    unpaired: Effect | None
    equal_length: Effect | None

    @property
    def chosen(self) -> Effect | None:
        """Pairs where there are any: what the workload does to both falls out of them."""
        return self.paired or self.unpaired


def findings(found: Sequence[Measured], practical: float) -> tuple[Finding, ...]:
    """Every figure that both sides tell; `practical` is the size from which an effect matters, a share (0..1)."""
    told = [(each, chosen) for each in found if (chosen := each.chosen) is not None]
    tested = [effect for _, effect in told if effect.p is not None]
    corrected = iter(_holm([effect.p or 0.0 for effect in tested]))
    return tuple(
        _finding(each, effect, None if effect.p is None else next(corrected), practical, len(tested))
        for each, effect in told
    )  # fmt: skip


def _holm(values: list[float]) -> list[float]:
    from statsmodels.stats.multitest import multipletests

    return [float(p) for p in multipletests(values, ALPHA, "holm")[1]] if values else []


def _finding(
    each: Measured, effect: Effect, p: float | None, practical: float, figures: int
) -> Finding:
    size = practical if practical > 0 else 0.1
    return Finding(
        figure=each.figure,
        chosen=effect,
        paired=each.paired,
        unpaired=each.unpaired,
        equal_length=each.equal_length,
        p=p,
        standing=_standing(effect, p, practical),
        smallest=smallest_seen(effect, figures),
        requests=requests_needed(effect, size, figures),
        runs=runs_needed(effect, size, figures),
    )


def _standing(effect: Effect, p: float | None, practical: float) -> Standing:
    if p is None or not isfinite(effect.value):
        return Standing.OPEN
    inside = -practical <= effect.low and effect.high <= practical
    if p > ALPHA:
        return Standing.SAME if inside and practical > 0 else Standing.NONE
    size = abs(effect.difference if effect.relative is None else effect.relative)
    return Standing.SMALL if size < practical else Standing.DIFFERS
