"""A figure with an interval that allows for neighbours in time being alike.

Requests near in time meet the same queue. The entries, in order of time, are cut into blocks of equal numbers (`block_length`), and
whole blocks stand for independent draws (E. Carlstein, Annals of Statistics 14, 1986, 1171-1179; H. R. Kunsch, Annals of
Statistics 17, 1989, 1217-1241). Every figure here is a sum over a sum, ``r = sum(a) / sum(b)``; over infinitely many draws of K
blocks with replacement its variance comes to ``K / (K - 1) x sum over blocks (A - r B)^2 / sum(b)^2``, A and B the sums of a
block, so nothing need be drawn, and the same records always give the same interval. `draws` does draw, for figures without a
formula; the tests hold the two against each other.

    mean       a the values, b = 1: r +- t(K - 1) error
    share      a 1 or 0: bounds of Clopper and Pearson for the independent entries that say as much,
               ``n_e = r (1 - r) / error^2 x (z / t(K - 1))^2``, n at most (E. Korn and B. Graubard, Survey Methodology 24, 1998)
    percentile the values at the bounds of the share that keeps it (R. S. Woodruff, Journal of the American Statistical
               Association 47, 1952, 635-646)
"""

from collections.abc import Callable
from math import ceil, inf, isfinite, sqrt
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.statistics.block_length import FEWEST, block_length
from vramledger.statistics.bounds import Bounds, bounds

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Numbers = np.ndarray[Any, np.dtype[Any]]

LEVEL: Final = 0.95
_MOST_BLOCKS: Final = 2000  # more say nothing more
_ENTRIES: Final = 4096  # of many values each, looked at together


@frozen
class Estimate:
    """A figure with the ends of its two-sided interval at `level`; infinite where the sample does not bound it.

    `error` is its standard error (of a percentile: half its interval over the normal's), None where there is none. `independent` are
    the entries that say as much if they were independent, `length` the entries of a block.
    """

    value: float
    low: float
    high: float
    level: float
    error: float | None
    counted: float
    independent: float
    blocks: int
    length: int


@frozen
class Ratio:
    """Sum over sum with its standard error; None where there are too few entries for one."""

    value: float
    error: float | None
    blocks: int
    length: int


def ratio(over: "Floats", under: "Floats | None" = None) -> Ratio:
    """The sum of one array over that of another (of the entries, where there is none), in order of time.

    Raises:
        ValueError: there are no entries, or the lower sum is 0.
    """
    import numpy as np

    total = float(len(over) if under is None else under.sum())
    if not total:
        raise ValueError("a ratio of nothing")
    value = float(over.sum()) / total
    off = over - value * (1.0 if under is None else under)
    length = block_length(off)
    count = min(len(off) // length, _MOST_BLOCKS)
    if count < FEWEST:
        return Ratio(value, None, count, length)
    edges = np.linspace(0, len(off), count + 1).round().astype(np.int64)
    sums = np.add.reduceat(off, edges[:-1])
    error = sqrt(count / (count - 1) * float(sums @ sums)) / total
    return Ratio(value, error, count, length)


def mean_of(values: "Floats", level: float = LEVEL) -> Estimate | None:
    """The mean, NaN left out; None where there is no finite one."""
    import numpy as np

    told = values[~np.isnan(values)]
    if not len(told) or not np.isfinite(told).all():
        return None
    return rate_of(told, None, level)


def rate_of(over: "Floats", under: "Floats | None" = None, level: float = LEVEL) -> Estimate | None:
    """A sum over a sum, as counts over the hours they came in; None of nothing."""
    if not len(over) or (under is not None and not under.sum()):
        return None
    found = ratio(over, under)
    if found.error is None:
        return Estimate(found.value, -inf, inf, level, None, len(over), 0.0, found.blocks, found.length)  # fmt: skip
    reach = _t(found.blocks, level) * found.error
    return Estimate(
        found.value, found.value - reach, found.value + reach, level, found.error, len(over), float(found.blocks), found.blocks,
        found.length,
    )  # fmt: skip


def share_of(kept: "Floats", level: float = LEVEL) -> Estimate | None:
    """The share of ones among ones and zeros; None of nothing."""
    if not len(kept):
        return None
    found = ratio(kept)
    independent = _independent(found, float(len(kept)), level)
    ends = _ends(found.value, independent, level)
    return Estimate(
        found.value, ends.low, ends.high, level, found.error, len(kept), independent, found.blocks, found.length
    )  # fmt: skip


def percentile_of(
    values: "Numbers", share: float, sizes: "Floats | None" = None, level: float = LEVEL
) -> Estimate | None:
    """The least value that the share does not exceed; NaN left out, infinite values are failures. None of nothing.

    `sizes` is how many of the values belong together to each entry in turn (the gaps of a request); one each by default.
    """
    import numpy as np

    if sizes is None:
        values = values[~np.isnan(values)]
    if not len(values):
        return None
    at = _order_statistics(values)
    value = at(share)
    if sizes is None:
        found = ratio((values <= value).astype(np.float64))
    else:
        found = ratio(_kept(values, value, sizes), sizes)
    independent = _independent(found, float(len(values)), level)
    ends = _ends(min(max(share, 0.0), 1.0), independent, level)
    low = at(ends.low) if (1 - share) ** independent <= (1 - level) / 2 else -inf
    high = at(ends.high) if share**independent <= (1 - level) / 2 else inf
    error = (high - low) / 2 / _normal(level) if isfinite(high - low) else None
    return Estimate(
        value, low, high, level, error, len(values), independent, found.blocks, found.length
    )


def _kept(values: "Numbers", most: float, sizes: "Floats") -> "Floats":
    """How many values of each entry, which may have none, are no larger; some entries at a time, as there may be millions of values."""
    import numpy as np

    found: Floats = np.zeros(len(sizes))
    begin = 0
    for first in range(0, len(sizes), _ENTRIES):
        part = slice(first, first + _ENTRIES)
        counts = sizes[part].astype(np.int64)
        here, some = int(counts.sum()), counts > 0
        kept = (values[begin : begin + here] <= most).astype(np.int64)
        if here:
            begins = (np.cumsum(counts) - counts)[some]
            found[part][some] = np.add.reduceat(kept, begins)
        begin += here
    return found


def _order_statistics(values: "Numbers") -> Callable[[float], float]:
    """The inverse of the empirical distribution (numpy's inverted_cdf), from one sorted copy."""
    import numpy as np

    ordered = np.sort(values)

    def at(share: float) -> float:
        place = ceil(len(ordered) * share - 1)
        return float(ordered[min(max(place, 0), len(ordered) - 1)])

    return at


def _independent(found: Ratio, counted: float, level: float) -> float:
    """As many as were counted where nothing varies."""
    if found.error is None:
        return 0.0
    spread = found.value * (1 - found.value)
    if found.error <= 0 or spread <= 0:
        return counted
    wider = _normal(level) / _t(found.blocks, level)
    return min(spread / found.error**2 * wider**2, counted)


def _ends(share: float, independent: float, level: float) -> Bounds:
    if independent <= 0 or not isfinite(independent):
        return Bounds(0.0, 1.0)
    return bounds(share * independent, independent, (1 + level) / 2)


def _t(blocks: int, level: float) -> float:
    """How many standard errors hold it."""
    from scipy.special import stdtrit

    return float(stdtrit(blocks - 1, (1 + level) / 2))


def _normal(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))
