"""A figure of several runs: its interval, and how much of what they differ by lies within runs and how much between.

Each run gives one value; runs do not depend on one another, whatever requests within one do. With k runs of standard
deviation s, the mean of the runs lies within ``t(k - 1) s / sqrt(k)`` (Student's t), in which the scatter within runs and that
between them are together, as both are in s. Apart they are told by the random-effects model ``s^2 = between^2 +
mean(within^2)``, with the within-run error of `statistics.estimate` (L. V. Hedges, "A random effects model for effect sizes", Psychological
Bulletin 93, 1983, 388-395). The interval is about repetitions of this load: they send requests of the same lengths, which
therefore add to `within` and not to s, so that `between` is a lower bound, and 0 where runs agree as well as one run can tell.
"""

from collections.abc import Sequence
from math import inf, isfinite, sqrt
from typing import Final

from vramledger.frozen import frozen

CONFIDENCE: Final = 0.95
FEWEST: Final = 2
MOST_MORE: Final = 1000


@frozen
class OfRuns:
    """One figure of k runs. `low` to `high` holds its mean over all runs that could be made, at `CONFIDENCE`.

    `within` is the standard error of one run's figure by itself, None where it was not asked; `between` the standard deviation of
    runs beyond that. Infinite runs (percentiles among failures) leave the mean and the end above them infinite.
    """

    values: tuple[float, ...]
    mean: float
    low: float
    high: float
    spread: float | None
    within: float | None = None
    between: float | None = None


def of_runs(values: Sequence[float], errors: Sequence[float] | None = None) -> OfRuns:
    """The figure of all runs; `errors` is the standard error of each by itself.

    Raises:
        ValueError: fewer than two runs.
    """
    if len(values) < FEWEST:
        raise ValueError("an interval needs two runs")
    if not all(map(isfinite, values)):
        low = inf if all(value == inf for value in values) else -inf
        return OfRuns(tuple(values), inf, low, inf, None)
    count, mean = len(values), sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    within = None if errors is None else sum(error**2 for error in errors) / len(errors)
    between = None if within is None else sqrt(max(variance - within, 0.0))
    half = _t(count) * sqrt(variance / count)
    return OfRuns(
        tuple(values),
        mean,
        mean - half,
        mean + half,
        sqrt(variance),
        None if within is None else sqrt(within),
        between,
    )


def more_runs(found: OfRuns, threshold: float) -> int | None:
    """How many more runs would put the threshold outside the interval, if mean and spread stay as they are.

    0 where it is outside. None where no number up to `MOST_MORE` does, or nothing can be said.
    """
    if not found.low <= threshold <= found.high:
        return 0
    distance = abs(found.mean - threshold)
    if found.spread is None or not isfinite(distance) or distance == 0:
        return None
    scatter, count = found.spread, len(found.values)
    enough = (
        n for n in range(count + 1, count + MOST_MORE + 1) if _t(n) * scatter / sqrt(n) < distance
    )
    reached = next(enough, None)
    return None if reached is None else reached - count


def _t(count: int) -> float:
    """How many standard errors hold the mean of so many runs at `CONFIDENCE`, both ends together."""
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, (1 + CONFIDENCE) / 2))
