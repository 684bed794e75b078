"""Evenly spaced quantiles read backwards: the share of requests up to a value."""

from typing import TYPE_CHECKING

from vramledger.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


@frozen
class Steps:
    """Values in ascending order, and the share of requests above the value before and up to each."""

    points: "NDArray[np.float64]"
    shares: "NDArray[np.float64]"  # sum 1


def steps_at(points: "NDArray[np.float64]", quantiles: "Sequence[float]", *, whole: bool) -> Steps:
    """The distribution of these quantiles in steps that end at the points.

    `whole` says that the values are whole numbers: a quantile halfway between two of them is then
    the place where the one ends and the other begins.
    """
    import numpy as np

    at = points + 0.5 if whole else points
    until = np.interp(at, quantiles, np.linspace(0, 1, len(quantiles)), left=0.0, right=1.0)
    until[-1] = 1.0
    return Steps(points, np.diff(until, prepend=0.0))


def steps_of(quantiles: "Sequence[float]") -> Steps:
    """The distribution of whole numbers with these quantiles, in steps that end at each of them."""
    import numpy as np

    return steps_at(np.unique(np.floor(quantiles)), quantiles, whole=True)
