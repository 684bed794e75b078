"""How many requests a line of a contract needs before a trial decides it.

A line asks that a share ``s`` of the requests keeps a limit (a percentile of a latency, the share that ends as asked). A
trial of ``n`` requests of which ``k`` keep it says

    holds  where the lower Clopper-Pearson bound of k of n is at least s,
    fails  where the upper one is below it,

each bound one-sided at the confidence (C. Clopper and E. Pearson, Biometrika 26, 1934). For a percentile that is the same as
holding its distribution-free bound, an order statistic, against the limit (H. David and H. Nagaraja, Order Statistics, 2003,
section 7.1). Where a share ``q`` keeps the limit in truth, the trial decides rightly with probability

    P(Bin(n, q) >= h(n))   for q > s,  h(n) the least k with  P(Bin(n, s) >= k) <= 1 - confidence
    P(Bin(n, q) <= f(n))   for q < s,  f(n) the largest k with P(Bin(n, s) <= k) <= 1 - confidence.

The requests needed are the fewest from which on that probability is no less than the confidence.
"""

from math import ceil, isfinite, log, log1p, sqrt
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np

    Whole = np.ndarray[Any, np.dtype[np.int64]]
    Floats = np.ndarray[Any, np.dtype[np.float64]]

MOST: Final = 10**9  # requests; beyond that there is no margin to speak of
_EXACT: Final = 100_000  # up to so many every number is tried
_TRIED: Final = 4_000  # of larger ones so many


def decides(counted: "Whole", truth: float, share: float, confidence: float) -> "Floats":
    """The probability that so many independent requests decide rightly, where a share `truth` keeps the limit in truth."""
    import numpy as np
    from scipy.stats import binom

    wrong = 1 - confidence
    if truth > share:
        least = binom.isf(wrong, counted, share) + 1
        return np.asarray(binom.sf(least - 1, counted, truth), np.float64)
    most = binom.ppf(wrong, counted, share)
    most = np.where(binom.cdf(most, counted, share) <= wrong, most, most - 1)
    return np.asarray(binom.cdf(most, counted, truth), np.float64)


def requests_needed(truth: float, share: float, confidence: float) -> int | None:
    """The independent requests from which on a line is decided rightly with the confidence.

    `truth` is the share that keeps the limit, `share` the one that must. None where nothing decides it: there is no margin, or a
    maximum is to hold, which no sample proves.
    """
    import numpy as np

    if truth == share or (share >= 1 and truth >= 1):
        return None
    if share >= 1:
        return ceil(log1p(-confidence) / log(truth)) if truth > 0 else 1
    about = _normal(truth, share, confidence)
    if not isfinite(about) or about > MOST:
        return None
    end = ceil(2 * about + 60 / min(share, 1 - share))
    if end <= _EXACT:
        tried = np.arange(1, end + 1)
    else:
        tried = np.unique(np.geomspace(max(about / 3, 1), end, _TRIED).astype(np.int64))
    enough = decides(tried, truth, share, confidence) >= confidence
    short = np.flatnonzero(~enough)
    first = int(short[-1]) + 1 if len(short) else 0
    return int(tried[first]) if first < len(tried) else None


def _normal(truth: float, share: float, confidence: float) -> float:
    """The same by the normal approximation: where to look for it."""
    from scipy.stats import norm

    z = float(norm.ppf(confidence))
    spread = sqrt(share * (1 - share)) + sqrt(truth * (1 - truth))
    return (z * spread / (truth - share)) ** 2
