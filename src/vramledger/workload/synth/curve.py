"""Arrivals along a profile's own rate curve, as uneven within a step as the profile's counts are.

A step is a minute, or longer where the profile is of weeks. Each has the profile's count (times a factor; fractions are rounded up or down by lot). It is
cut into ever smaller windows (`splits`), those of which the profile states the dispersion and how many
are empty. Within the smallest window arrivals are even: a profile says nothing of shorter times.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import exp
from typing import TYPE_CHECKING, Final

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.workload.profile.profile import Arrival
from vramledger.workload.synth.draws import CHUNK
from vramledger.workload.synth.splits import Split, cut, fitted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MINUTE: Final = 60
_MOST_STEPS: Final = 65_536  # cut at a time
_FEWEST_FITTED: Final = 2_000  # windows that a cut is fitted to
_MOST_FITTED: Final = 100_000


@frozen
class RateCurve:
    """Requests of each step of one pass; the last one lasts `last_s`."""

    per_step: "NDArray[np.float64]"
    last_s: float
    splits: tuple[Split, ...]
    step_s: int = MINUTE

    @property
    def period_s(self) -> float:
        return self.step_s * (len(self.per_step) - 1) + self.last_s

    @property
    def mean_per_s(self) -> float:
        return float(self.per_step.sum()) / self.period_s

    def times(self, factor: float) -> "RateCurve":
        """The curve at so many times the rate."""
        return replace(self, per_step=self.per_step * factor)


def rate_curve(arrival: Arrival) -> RateCurve:
    """The curve of a profile.

    A pass ends one mean gap after the last arrival, so that passes can follow each other.

    Raises:
        CannotKnow: the profile has no times, or all in one moment.
    """
    import numpy as np

    counts = np.array(arrival.per_step, float)
    if not arrival.span_s or counts.sum() < 2:
        raise CannotKnow(
            "The profile has no arrival times, so it has no rate curve to follow; say "
            "--arrivals poisson --rate REQUESTS_PER_SECOND."
        )
    period = arrival.span_s * counts.sum() / (counts.sum() - 1)
    last = period - arrival.step_s * (len(counts) - 1)
    whole = counts[:-1] if len(counts) > 2 else counts
    return RateCurve(counts, last, _splits(arrival, whole.astype(np.int64)), arrival.step_s)


def _splits(arrival: Arrival, per_step: "NDArray[np.int64]") -> tuple[Split, ...]:
    """The cuts from a step down to the smallest window whose dispersion is known.

    The counts of the windows between are not in a profile: those that the cuts so far make, drawn with
    a seed of their own, stand for them.
    """
    import numpy as np

    rng = np.random.Generator(np.random.PCG64(0))
    counts = np.resize(per_step, max(len(per_step), _FEWEST_FITTED))
    found = []
    for longer, shorter in pairwise(_windows(arrival)):
        parts = longer // shorter
        variance = _stated(arrival.dispersion, shorter) * float(counts.mean()) / parts
        empty = _empty_share(arrival, shorter)
        found.append(fitted(counts, parts, variance, empty))
        counts = cut(counts, found[-1], rng)[:_MOST_FITTED]
    return tuple(found)


def _windows(arrival: Arrival) -> list[int]:
    """The step, and the stated windows that divide it and each other."""
    found = [arrival.step_s]
    for window in sorted((int(w) for w in arrival.dispersion if float(w) == int(w)), reverse=True):
        if 0 < window < found[-1] and found[-1] % window == 0:
            found.append(window)
    return found


def _empty_share(arrival: Arrival, window: int) -> float | None:
    """Of the windows of whole steps, those without a request; None where the profile does not say.

    The profile counts those of the last, incomplete step too: as many as Poisson arrivals at its
    rate leave empty are taken off.
    """
    span = arrival.span_s or 0.0
    whole_s = arrival.step_s * max(len(arrival.per_step) - 1, 1)
    if span < window or not any(float(w) == window for w in arrival.empty):
        return None
    rest = max(0.0, span - whole_s)
    left = rest // window * exp(-arrival.per_step[-1] * window / rest) if rest else 0.0
    windows = min(whole_s, span) // window
    return min(1.0, max(0.0, _stated(arrival.empty, window) - left) / windows)


def _stated(figures: Mapping[str, float], window: int) -> float:
    return next(float(found) for w, found in figures.items() if float(w) == window)


def along(curve: RateCurve, rng: "np.random.Generator") -> "Iterator[NDArray[np.float64]]":
    """Endless chunks of arrival times, pass after pass of the curve, the first of them at 0."""
    start, first = 0.0, True
    while True:
        for steps in _stretches(curve.per_step):
            counts = rounded_by_lot(curve.per_step[steps], rng)
            times = start + _in_steps(counts, steps, curve, rng)
            if first and len(times):
                times[0], first = 0.0, False
            yield times
        start += curve.period_s


def _stretches(per_step: "NDArray[np.float64]") -> Iterator[slice]:
    """Steps of about `CHUNK` requests together."""
    import numpy as np

    total = np.cumsum(per_step)
    begin = 0
    while begin < len(per_step):
        reached = (total[begin - 1] if begin else 0.0) + CHUNK
        end = int(np.searchsorted(total, reached))
        end = min(max(end, begin + 1), begin + _MOST_STEPS, len(per_step))
        yield slice(begin, end)
        begin = end


def rounded_by_lot(
    expected: "NDArray[np.float64]", rng: "np.random.Generator"
) -> "NDArray[np.int64]":
    """Whole counts, up or down so that their mean is the expected one."""
    import numpy as np

    return np.floor(expected + rng.random(len(expected))).astype(np.int64)


def _in_steps(
    counts: "NDArray[np.int64]", steps: slice, curve: RateCurve, rng: "np.random.Generator"
) -> "NDArray[np.float64]":
    """Sorted times of so many arrivals in each of the steps, seconds from the curve's beginning."""
    import numpy as np

    small = cut_all(counts, curve.splits, rng)
    each = len(small) // len(counts)
    place = np.repeat(np.arange(len(small)), small)
    within = (place % each + rng.random(len(place))) / each  # share of the step that is over
    step = steps.start + place // each
    last = len(curve.per_step) - 1
    return np.sort(
        curve.step_s * step + within * np.where(step == last, curve.last_s, curve.step_s)
    )


def cut_all(
    counts: "NDArray[np.int64]", splits: Sequence[Split], rng: "np.random.Generator"
) -> "NDArray[np.int64]":
    """The counts of the smallest windows, in order, from those of the steps."""
    for split in splits:
        counts = cut(counts, split, rng)
    return counts
