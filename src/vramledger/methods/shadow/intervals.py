"""Estimates with 95 % intervals, the prompt as the unit that is drawn.

Tokens of one answer hang together, so whole prompts are drawn again (cluster bootstrap: Efron and Tibshirani, An
Introduction to the Bootstrap, 1993, ch. 8). Where hardly any answer parts, a bootstrap sees too little of it; an answer parts once
at most, so the exact interval of Clopper and Pearson on the share of answers that part gives another interval, and the wider
ends count. Shares of prompts have Wilson's interval. The median of the first difference is Kaplan and Meier's, with the log-log
interval of Brookmeyer and Crowley: answers that end before they part are censored.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from vramledger.frozen import frozen

if TYPE_CHECKING:
    import numpy as np

CONFIDENCE: Final = 0.95
_RESAMPLES: Final = 2000


@frozen
class Estimate:
    """`high` is None where nothing bounds it, all three are where nothing is known; `reason` then says why."""

    value: float | None
    low: float | None = None
    high: float | None = None
    reason: str = ""


class Intervals(Protocol):
    """How estimates come by their intervals; arrays have one entry a prompt."""

    def share(self, hits: "np.ndarray[Any, Any]") -> Estimate:
        """The share of ones."""

    def ratio(self, above: "np.ndarray[Any, Any]", below: "np.ndarray[Any, Any]") -> Estimate:
        """The sum of one array over that of another."""

    def agreement(
        self, parted: "np.ndarray[Any, Any]", positions: "np.ndarray[Any, Any]"
    ) -> Estimate:
        """The share of places of equal context at which both say the same token."""


@frozen
class ByPrompt:
    """Prompts that are independent of each other, drawn again by the seed."""

    seed: int

    def share(self, hits: "np.ndarray[Any, Any]") -> Estimate:
        """The share of ones."""
        return share(int(hits.sum()), len(hits))

    def ratio(self, above: "np.ndarray[Any, Any]", below: "np.ndarray[Any, Any]") -> Estimate:
        """The sum of one array over that of another."""
        return ratio(above, below, self.seed)

    def agreement(
        self, parted: "np.ndarray[Any, Any]", positions: "np.ndarray[Any, Any]"
    ) -> Estimate:
        """The share of places of equal context at which both say the same token."""
        return agreement(parted, positions, self.seed)


def share(count: int, of: int) -> Estimate:
    """A share of prompts, with Wilson's interval."""
    if not of:
        return Estimate(None, reason="no prompt was answered by both")
    from scipy.stats import binomtest

    found = binomtest(count, of).proportion_ci(CONFIDENCE, method="wilson")
    return Estimate(count / of, float(found.low), float(found.high))


def agreement(
    parted: "np.ndarray[Any, Any]", positions: "np.ndarray[Any, Any]", seed: int
) -> Estimate:
    """The share of places of equal context at which both say the same token.

    Args:
        parted: 1 where the answers to a prompt part, else 0; one entry a prompt.
        positions: the places of equal context of each prompt.
        seed: of the bootstrap.
    """
    places, count, parts = int(positions.sum()), len(parted), int(parted.sum())
    if not places:
        return Estimate(None, reason="no two answers have a token to compare")
    from scipy.stats import binomtest

    exact = binomtest(parts, count).proportion_ci(CONFIDENCE, method="exact")
    drawn = ratio(parted, positions, seed)
    worst = max(drawn.high or 0.0, min(1.0, float(exact.high) * count / places))
    best = min(drawn.low or 0.0, float(exact.low) * count / places)
    return Estimate(1 - parts / places, 1 - worst, 1 - best)


def ratio(above: "np.ndarray[Any, Any]", below: "np.ndarray[Any, Any]", seed: int) -> Estimate:
    """The sum of one array over that of another, prompts drawn again together."""
    total = float(below.sum())
    if not total:
        return Estimate(None, reason="there is nothing to average over")
    value = float(above.sum()) / total
    if len(above) < 2 or (above == value * below).all():
        return Estimate(value, value, value)
    import numpy as np
    from scipy.stats import bootstrap

    def statistic(x: Any, y: Any, axis: int) -> Any:
        return x.sum(axis=axis) / np.maximum(y.sum(axis=axis), 1e-300)

    found = bootstrap(
        (above, below),
        statistic,
        paired=True,
        vectorized=True,
        n_resamples=_RESAMPLES,
        batch=200,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Estimate(value, float(found.low), float(found.high))


def median_first_difference(agreed: Sequence[int], parted: Sequence[bool]) -> Estimate:
    """The place, from 1, by which half of the answers have parted; `high` is None where the answers end before.

    Args:
        agreed: tokens before the first difference, or to the end where there is none; one a prompt.
        parted: whether there is one.
    """
    if not any(parted):
        return Estimate(None, reason="no two answers part")
    import warnings

    import numpy as np
    from scipy.stats import CensoredData, ecdf

    places, seen = np.asarray(agreed, float) + 1, np.asarray(parted, bool)
    curve = ecdf(CensoredData(uncensored=places[seen], right=places[~seen] - 1)).sf
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # undefined where all or none are left
        band = curve.confidence_interval(CONFIDENCE, method="log-log")
    value, low, high = (
        _crossing(curve.quantiles, np.where(np.isnan(each), curve.probabilities, each))
        for each in (curve.probabilities, band.low.probabilities, band.high.probabilities)
    )
    if value is None:
        return Estimate(None, low, None, "fewer than half of the answers part before they end")
    return Estimate(value, low, high)


def _crossing(places: Any, surviving: Any) -> float | None:
    """The first place at which half or fewer are left."""
    below = surviving <= 0.5
    return float(places[below.argmax()]) if below.any() else None
