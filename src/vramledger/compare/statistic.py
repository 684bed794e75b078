"""One figure of one side against that of the other: a value with its standard error, from one run of each.

Latencies and rates are compared as ratios: the logarithm of B over A is what has an error, so that an effect of +10 % and its
opposite are as far from none. Shares are compared by their difference.

    mean, paired       log(sum b / sum a) over pairs; the error is that of a ratio of sums by blocks (`statistics.estimate.ratio`)
    mean, unpaired     log(mean b) - log(mean a); errors of both by blocks, added in squares
    percentile         log(q_b) - log(q_a); the error of each is half the distance between the values at the bounds of its share, over
                       the normal's (R. S. Woodruff, 1952); with pairs, less twice the covariance of the two shares by blocks
    share              the mean of the differences, or the difference of means
"""

from math import inf, isfinite, log, sqrt
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.statistics.block_length import FEWEST, block_length
from vramledger.statistics.estimate import Ratio, mean_of, percentile_of, ratio

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

_BEYOND: Final = 10  # values beyond a percentile, without which it is not compared
_MOST_BLOCKS: Final = 2000


@frozen
class Contrast:
    """`value` is B less A on the scale of the error (a logarithm of a ratio, or a difference); `error` is None where there is none."""

    a: float
    b: float
    value: float
    error: float | None
    freedom: float
    counted: int
    reason: str = ""


def mean_ratio_paired(a: "Floats", b: "Floats") -> Contrast | None:
    """Of pairs in order of time; None of none, or where a sum is 0."""
    if len(a) == 0 or a.sum() <= 0 or b.sum() <= 0:
        return None
    found = ratio(b, a)
    error = None if found.error is None else found.error / found.value
    return _contrast(float(a.mean()), float(b.mean()), log(found.value), error, found, len(a))


def mean_ratio(a: "Floats", b: "Floats") -> Contrast | None:
    """Of two samples, each in order of time."""
    one, other = mean_of(a), mean_of(b)
    if one is None or other is None or one.value <= 0 or other.value <= 0:
        return None
    errors = [None if each.error is None else each.error / each.value for each in (one, other)]
    return _welch(one.value, other.value, log(other.value / one.value), errors, (one.blocks, other.blocks), min(len(a), len(b)))  # fmt: skip


def share_paired(a: "Floats", b: "Floats") -> Contrast | None:
    """Of ones and zeros, pair by pair."""
    if len(a) == 0:
        return None
    found = ratio(b - a)
    return _contrast(float(a.mean()), float(b.mean()), found.value, found.error, found, len(a))


def share(a: "Floats", b: "Floats") -> Contrast | None:
    """Of ones and zeros of two samples."""
    if not len(a) or not len(b):
        return None
    one, other = ratio(a), ratio(b)
    return _welch(one.value, other.value, other.value - one.value, [one.error, other.error], (one.blocks, other.blocks), min(len(a), len(b)))  # fmt: skip


def percentile_ratio(a: "Floats", b: "Floats", part: float, *, paired: bool) -> Contrast | None:
    """Of two samples, or of pairs; None where either has none."""
    if not len(a) or not len(b):
        return None
    counted = min(len(a), len(b))
    one, other = percentile_of(a, part), percentile_of(b, part)
    if one is None or other is None or one.value <= 0 or other.value <= 0:
        return None
    value = log(other.value / one.value)
    beyond = counted * min(part, 1 - part)
    if beyond < _BEYOND:
        return Contrast(one.value, other.value, value, None, 0.0, counted, f"{counted:,} values are too few for this percentile; it takes {_BEYOND / min(part, 1 - part):,.0f}")  # fmt: skip
    errors = [
        None if each.error is None or not isfinite(each.error) else each.error / each.value
        for each in (one, other)
    ]
    blocks = (one.blocks, other.blocks)
    if not paired or errors[0] is None or errors[1] is None:
        return _welch(one.value, other.value, value, errors, blocks, counted)
    alike = _alike(a <= one.value, b <= other.value)
    error = sqrt(max(errors[0] ** 2 + errors[1] ** 2 - 2 * alike * errors[0] * errors[1], 0.0))
    return Contrast(one.value, other.value, value, error, min(blocks) - 1, counted)


def _alike(a: "np.ndarray[Any, Any]", b: "np.ndarray[Any, Any]") -> float:
    """The correlation of what blocks of both have too many or too few of."""
    import numpy as np

    one, other = (each - each.mean() for each in (a.astype(np.float64), b.astype(np.float64)))
    length = max(block_length(one), block_length(other))
    count = min(len(one) // length, _MOST_BLOCKS)
    if count < FEWEST:
        return 0.0
    edges = np.linspace(0, len(one), count + 1).round().astype(np.int64)[:-1]
    sums = [np.add.reduceat(each, edges) for each in (one, other)]
    size = sqrt(float(sums[0] @ sums[0]) * float(sums[1] @ sums[1]))
    return float(sums[0] @ sums[1]) / size if size > 0 else 0.0


def _contrast(
    a: float, b: float, value: float, error: float | None, found: Ratio, counted: int
) -> Contrast:
    reason = "" if error is not None else f"{counted:,} values are too few for an interval"
    return Contrast(a, b, value, error, max(found.blocks - 1, 0), counted, reason)


def _welch(
    a: float,
    b: float,
    value: float,
    errors: list[float | None],
    blocks: tuple[int, int],
    counted: int,
) -> Contrast:
    """Two independent errors; degrees of freedom of F. E. Satterthwaite and B. L. Welch."""
    one, other = errors
    if one is None or other is None:
        return Contrast(a, b, value, None, 0.0, counted, "the sample is too small for an interval")
    whole = one**2 + other**2
    parts = one**4 / max(blocks[0] - 1, 1) + other**4 / max(blocks[1] - 1, 1)
    return Contrast(a, b, value, sqrt(whole), whole**2 / parts if parts else inf, counted)
