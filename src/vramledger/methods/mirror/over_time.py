"""Estimates of live traffic: requests near in time meet the same load and the same users, so blocks of neighbours are what is drawn.

The intervals are those of `statistics.estimate`: blocks in time as independent draws, their length by the autocorrelation, Student's t for
their number. Where hardly any answer parts, the blocks see too little of it; an answer parts once at most, so the
interval of Clopper and Pearson on the share of answers that part, for the independent requests that say as much
(`statistics.correlation.design_effect`), is another one, and the wider ends count.
"""

from math import isfinite
from typing import TYPE_CHECKING, Any

from vramledger.methods.shadow.intervals import CONFIDENCE, Estimate
from vramledger.statistics.bounds import bounds
from vramledger.statistics.correlation import design_effect
from vramledger.statistics.estimate import percentile_of, rate_of, share_of

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

_FEW = "too few blocks in time for an interval"


class OverTime:
    """Of one entry a request, in order of time."""

    def share(self, hits: "Floats") -> Estimate:
        """The share of ones."""
        found = share_of(hits, CONFIDENCE)
        if found is None:
            return Estimate(None, reason="no request was answered by both")
        return Estimate(found.value, found.low, found.high)

    def ratio(self, above: "Floats", below: "Floats") -> Estimate:
        """The sum of one array over that of another; without ends where there are too few requests for them."""
        found = rate_of(above, below, CONFIDENCE)
        if found is None:
            return Estimate(None, reason="there is nothing to average over")
        if not isfinite(found.high - found.low):
            return Estimate(found.value, reason=_FEW)
        return Estimate(found.value, found.low, found.high)

    def agreement(self, parted: "Floats", positions: "Floats") -> Estimate:
        """The share of places of equal context at which both say the same token.

        Args:
            parted: 1 where the answers to a request part, else 0.
            positions: the places of equal context of each request.
        """
        places, count, parts = float(positions.sum()), len(parted), float(parted.sum())
        if not places:
            return Estimate(None, reason="no two answers have a token to compare")
        alike = design_effect(parted)
        exact = bounds(parts / alike, count / alike, (1 + CONFIDENCE) / 2)
        blocks = self.ratio(parted, positions)
        worst = max(blocks.high or 0.0, min(1.0, exact.high * count / places))
        best = exact.low * count / places
        if blocks.low is not None:
            best = min(best, max(blocks.low, 0.0))
        return Estimate(1 - parts / places, 1 - min(worst, 1.0), 1 - best)

    def median(self, values: "Floats") -> Estimate:
        """The median, without ends where they lie beyond the sample."""
        found = percentile_of(values, 0.5, level=CONFIDENCE)
        if found is None:
            return Estimate(None, reason="no request has this time on both sides")
        low, high = (each if isfinite(each) else None for each in (found.low, found.high))
        return Estimate(found.value, low, high, _FEW if None in (low, high) else "")
