"""Arrivals along a profile's own rate curve, as uneven within a minute as the profile's counts are.

Each minute has the profile's count (times a factor; fractions are rounded up or down by lot). It is
cut into ever smaller windows, those of which the profile states the dispersion: the parts of a window
are Dirichlet-multinomial, with the one parameter that gives the smaller windows the profile's
variance. With N requests in a window of r parts, p = 1/r and Dirichlet parameters A/r each,

    Var(part | N) = N p (1 - p) (N + A) / (1 + A)

(Johnson, Kotz, Balakrishnan, Discrete Multivariate Distributions, 1997, chapter 35). Counts more
even than a lot's are made by handing out a share of each window's requests in equal parts. Within
the smallest window arrivals are even.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, Final

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.workload.profile.profile import Arrival
from vramledger.workload.synth.draws import CHUNK

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MINUTE: Final = 60
_MOST_MINUTES: Final = 65_536  # cut at a time


@frozen
class Split:
    """How a window's requests fall into its equal parts."""

    parts: int
    concentration: float  # A: inf is a fair lot, near 0 all in one part
    even_share: float  # of the requests, handed out in equal parts


@frozen
class RateCurve:
    """Requests of each minute of one pass; the last minute lasts `last_s`."""

    per_minute: "NDArray[np.float64]"
    last_s: float
    splits: tuple[Split, ...]

    @property
    def period_s(self) -> float:
        return MINUTE * (len(self.per_minute) - 1) + self.last_s

    @property
    def mean_per_s(self) -> float:
        return float(self.per_minute.sum()) / self.period_s

    def times(self, factor: float) -> "RateCurve":
        """The curve at so many times the rate."""
        return RateCurve(self.per_minute * factor, self.last_s, self.splits)


def rate_curve(arrival: Arrival) -> RateCurve:
    """The curve of a profile.

    A pass ends one mean gap after the last arrival, so that passes can follow each other.

    Raises:
        CannotKnow: the profile has no times, or all in one moment.
    """
    import numpy as np

    counts = np.array(arrival.per_minute, float)
    if not arrival.span_s or counts.sum() < 2:
        raise CannotKnow(
            "The profile has no arrival times, so it has no rate curve to follow; say "
            "--arrivals poisson --rate REQUESTS_PER_SECOND."
        )
    period = arrival.span_s * counts.sum() / (counts.sum() - 1)
    last = period - MINUTE * (len(counts) - 1)
    whole = counts[:-1] if len(counts) > 2 else counts
    return RateCurve(counts, last, _splits(arrival, whole))


def _splits(arrival: Arrival, per_minute: "NDArray[np.float64]") -> tuple[Split, ...]:
    """The cuts from a minute down to the smallest window whose dispersion is known."""
    windows = [MINUTE]
    for window in sorted((int(w) for w in arrival.dispersion if float(w) == int(w)), reverse=True):
        if window < windows[-1] and window > 0 and windows[-1] % window == 0:
            windows.append(window)
    mean = float(per_minute.mean())
    square = float((per_minute**2).mean())
    found = []
    for longer, shorter in pairwise(windows):
        parts = longer // shorter
        index = _dispersion(arrival, shorter)
        variance = index * mean / parts
        found.append(_split(parts, mean, square, variance))
        mean /= parts
        square = max(variance + mean**2, mean)
    return tuple(found)


def _dispersion(arrival: Arrival, window: int) -> float:
    return next(float(found) for w, found in arrival.dispersion.items() if float(w) == window)


def _split(parts: int, mean: float, square: float, variance: float) -> Split:
    """The split under which the parts of windows with these moments have this variance."""
    share = 1 / parts
    lot = share * (1 - share)
    between = (square - mean**2) * share**2  # variance that the windows themselves bring
    within = variance - between
    if mean <= 0 or within <= 0:
        return Split(parts, inf, 1.0)
    if within <= lot * mean:
        return Split(parts, inf, 1 - within / (lot * mean))
    if within >= lot * square:
        return Split(parts, 0.0, 0.0)
    return Split(parts, (lot * square - within) / (within - lot * mean), 0.0)


def along(curve: RateCurve, rng: "np.random.Generator") -> "Iterator[NDArray[np.float64]]":
    """Endless chunks of arrival times, pass after pass of the curve, the first of them at 0."""
    start, first = 0.0, True
    while True:
        for minutes in _stretches(curve.per_minute):
            counts = rounded_by_lot(curve.per_minute[minutes], rng)
            times = start + _in_minutes(counts, minutes, curve, rng)
            if first and len(times):
                times[0], first = 0.0, False
            yield times
        start += curve.period_s


def _stretches(per_minute: "NDArray[np.float64]") -> Iterator[slice]:
    """Minutes of about `CHUNK` requests together."""
    import numpy as np

    total = np.cumsum(per_minute)
    begin = 0
    while begin < len(per_minute):
        reached = (total[begin - 1] if begin else 0.0) + CHUNK
        end = int(np.searchsorted(total, reached))
        end = min(max(end, begin + 1), begin + _MOST_MINUTES, len(per_minute))
        yield slice(begin, end)
        begin = end


def rounded_by_lot(
    expected: "NDArray[np.float64]", rng: "np.random.Generator"
) -> "NDArray[np.int64]":
    """Whole counts, up or down so that their mean is the expected one."""
    import numpy as np

    return np.floor(expected + rng.random(len(expected))).astype(np.int64)


def _in_minutes(
    counts: "NDArray[np.int64]", minutes: slice, curve: RateCurve, rng: "np.random.Generator"
) -> "NDArray[np.float64]":
    """Sorted times of so many arrivals in each of the minutes, seconds from the curve's beginning."""
    import numpy as np

    small = cut(counts, curve.splits, rng)
    each = len(small) // len(counts)
    place = np.repeat(np.arange(len(small)), small)
    within = (place % each + rng.random(len(place))) / each  # share of the minute that is over
    minute = minutes.start + place // each
    last = len(curve.per_minute) - 1
    return np.sort(MINUTE * minute + within * np.where(minute == last, curve.last_s, MINUTE))


def cut(
    counts: "NDArray[np.int64]", splits: Sequence[Split], rng: "np.random.Generator"
) -> "NDArray[np.int64]":
    """The counts of the smallest windows, in order, from those of the minutes."""
    for split in splits:
        counts = _cut_once(counts, split, rng)
    return counts


def _cut_once(
    counts: "NDArray[np.int64]", split: Split, rng: "np.random.Generator"
) -> "NDArray[np.int64]":
    import numpy as np

    handed = np.floor(counts * split.even_share / split.parts).astype(np.int64)
    left = counts - handed * split.parts
    drawn = rng.multinomial(left, _weights(len(counts), split, rng))
    return (drawn + handed[:, None]).reshape(-1)


def _weights(windows: int, split: Split, rng: "np.random.Generator") -> "NDArray[np.float64]":
    """Shares of the parts of each window; shape (windows, parts)."""
    import numpy as np

    if split.concentration == inf:
        return np.full((windows, split.parts), 1 / split.parts)
    weights = rng.standard_gamma(split.concentration / split.parts, (windows, split.parts))
    total = weights.sum(axis=1)
    chosen = rng.integers(0, split.parts, windows)
    vanished = total < 1e-200  # so concentrated that all weights underflow: one part takes all
    weights[vanished] = 0.0
    weights[vanished, chosen[vanished]] = 1.0
    return weights / np.where(vanished, 1.0, total)[:, None]
