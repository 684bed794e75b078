"""An error that allows for what blocks leave out: what is alike across their ends.

Blocks of L neighbours hold the covariance at lag k for L - k of L entries only, so that the variance of a mean comes out too small by

    2 sum(k c_k) / (L (c_0 + 2 sum c_k))

of itself, to first order; the length at which D. N. Politis and H. White's bootstrap errs least is made of the same quotient
(``l = (1.5 q^2 n)^(1/3)``, Econometric Reviews 23, 2004, 53-70), so it is read back from there. It is next to nothing where blocks
are as long as they are meant to be, and a quarter where a short sample that is alike for long is cut into the fewest blocks.

A first-order autoregression needs one figure, the correlation r of neighbours, and sees further than a short sample's covariances: the mean of n
entries has the variance ``c / n x (1 + r) / (1 - r)``. Around a mean that was fitted, r comes out too small by ``(1 + 3 r) / n`` (F. H. C. Marriott
and J. A. Pope; M. G. Kendall, Biometrika 41, 1954, 390-402 and 403-404), and c by the variance of the mean; both are put right.
The larger of the two errors counts.
"""

from math import sqrt
from typing import TYPE_CHECKING, Any, Final

from vramledger.statistics.block_length import FEWEST, least_error_length

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

_MOST_CUT: Final = 0.5  # of the variance; beyond, the first order says nothing
_MOST_ALIKE: Final = 0.99
_LEAST_LEFT: Final = 0.2  # of the entries' variance, where the mean takes the rest


def whole_error(error: float, off: "Floats", length: int, total: float) -> float:
    """The error of ``sum(off) / total`` in place of the one found of blocks of that length; `off` are entries off their mean."""
    alone = autoregressive_error(off) * len(off) / total
    return max(error * widening(off, length), alone)


def widening(off: "Floats", length: int) -> float:
    """The factor on an error that was found of blocks of that length, 1 at least."""
    count = len(off)
    if not count or length < 1:
        return 1.0
    least = least_error_length(off)
    if least <= 1:
        return 1.0
    share = sqrt(least**3 / (1.5 * count)) / length
    return 1 / sqrt(1 - min(share, _MOST_CUT))


def autoregressive_error(values: "Floats") -> float:
    """The standard error of the mean of such entries; 0 of too few, or where nothing varies."""
    count = len(values)
    if count < FEWEST:
        return 0.0
    off = values - values.mean()
    squares = float(off @ off)
    if squares <= 0:
        return 0.0
    alike = float(off[1:] @ off[:-1]) / squares
    alike = min(max((count * alike + 1) / (count - 3), 0.0), _MOST_ALIKE)
    longer = (1 + alike) / (1 - alike)
    variance = squares / count / max(1 - longer / count, _LEAST_LEFT)
    return sqrt(variance * longer / count)
