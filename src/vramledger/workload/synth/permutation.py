"""What two samples of one source differ by: a permutation test on counts.

Two samples of n and m requests are put together and dealt out again at random, n and m: under "one
source" every deal is as likely as the one that was seen (Good, Permutation, Parametric and Bootstrap
Tests of Hypotheses, 2005, chapter 3). On counts by cell a deal is a multivariate hypergeometric draw.
"""

from typing import TYPE_CHECKING, Final, TypeAlias

from vramledger.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

# shares of the cells in both samples, shape (deals, cells) each -> one distance a deal
Statistic: TypeAlias = "Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]"

DEALS: Final = 500
_MOST: Final = 100_000_000  # numpy deals fewer than 10^9 requests; more are scaled down to this


@frozen
class SamplingError:
    """What the distance is between two samples of one source."""

    typical: float  # median
    limit: float  # exceeded by the share 1 - level of pairs


def sampling_error(
    first: "NDArray[np.float64]",
    second: "NDArray[np.float64]",
    statistics: "tuple[Statistic, ...]",
    level: float,
    rng: "np.random.Generator",
) -> tuple[SamplingError, ...]:
    """One for each statistic; the arguments are counts by cell, the samples' sizes their sums."""
    import numpy as np

    scale = max(1.0, float(first.sum() + second.sum()) / _MOST)
    upto = np.rint(np.cumsum(first + second) / scale)  # many cells below a half still add up
    pooled = np.diff(upto, prepend=0).astype(np.int64)
    whole = int(pooled.sum())
    size = min(max(round(float(first.sum()) / scale), 1), whole - 1)
    dealt = rng.multivariate_hypergeometric(pooled, size, DEALS, method="marginals")
    one, other = dealt / size, (pooled - dealt) / (whole - size)
    return tuple(of_draws(statistic(one, other), level) for statistic in statistics)


def of_draws(distances: "NDArray[np.float64]", level: float) -> SamplingError:
    """From the distances of many pairs."""
    import numpy as np

    return SamplingError(float(np.median(distances)), float(np.quantile(distances, level)))


def kolmogorov_smirnov(
    one: "NDArray[np.float64]", other: "NDArray[np.float64]"
) -> "NDArray[np.float64]":
    """The largest difference of the cumulative shares; cells are in order."""
    import numpy as np

    found: NDArray[np.float64] = np.abs(np.cumsum(one - other, axis=-1)).max(axis=-1)
    return found


def total_variation(
    one: "NDArray[np.float64]", other: "NDArray[np.float64]"
) -> "NDArray[np.float64]":
    """The share of requests that would have to change cells."""
    import numpy as np

    found: NDArray[np.float64] = np.abs(one - other).sum(axis=-1) / 2
    return found


def wasserstein(points: "NDArray[np.float64]", mean: float) -> Statistic:
    """The mean way that tokens would have to move, over their mean; cells lie at `points`."""
    import numpy as np

    widths = np.diff(points) / mean

    def distance(one: "NDArray[np.float64]", other: "NDArray[np.float64]") -> "NDArray[np.float64]":
        gap = np.abs(np.cumsum(one - other, axis=-1))[..., :-1]
        found: NDArray[np.float64] = (gap * widths).sum(axis=-1)
        return found

    return distance
