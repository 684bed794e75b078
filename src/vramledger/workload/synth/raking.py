"""Iterative proportional fitting: weights of points, made to agree with several margins at once.

Source: Deming and Stephan, On a least squares adjustment of a sampled frequency table when the
expected marginal totals are known, Annals of Mathematical Statistics 11 (1940).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from vramledger.frozen import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ROUNDS: Final = 60


@frozen
class Margin:
    """Into which group each point falls, and the weight that each group shall have (sum 1)."""

    group: "NDArray[np.int64]"
    target: "NDArray[np.float64]"


def raked(weights: "NDArray[np.float64]", margins: Sequence[Margin]) -> "NDArray[np.float64]":
    """Weights of sum 1 that come as near as may be to every margin, to the last one most.

    A group that has a target but no point is passed over, its weight spread over all; so is a margin of
    which no point meets any target.
    """
    import numpy as np

    for _ in range(_ROUNDS):
        for margin in margins:
            held = np.bincount(margin.group, weights, len(margin.target))
            factor = np.divide(margin.target, held, out=np.zeros(len(held)), where=held > 0)
            found = weights * factor[margin.group]
            total = found.sum()
            weights = found / total if total > 0 else weights
    return weights
