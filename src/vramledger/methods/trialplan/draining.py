"""How long a trial must watch a queue before its slope says that it does not grow.

The queue is sampled every ``d`` seconds over ``T``; the least-squares slope of a queue that stays has the variance

    12 S / T^3,   S = d x (long-run variance of the samples),

whatever its autocorrelation (as in D. Andrews, Econometrica 59, 1991, for a linear trend). It is told from a growth ``g`` with
the confidence on either side once ``T >= (12 S (2 z)^2 / g^2)^(1/3)``. The growth that must not go unseen is a tenth of the
arrivals: a server that serves nine of ten.
"""

from math import sqrt
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vramledger.frozen import frozen
from vramledger.statistics.correlation import long_run_variance

if TYPE_CHECKING:
    Floats = np.ndarray[Any, np.dtype[np.float64]]

GROWTH: Final = 0.1  # of the arrivals; assumed
_LAST_PART: Final = 0.9  # of the time; the queue must be empty at some moment after it
_FEWEST: Final = 20  # samples


@frozen
class Slope:
    """Requests a second by which a queue grew, with one-sided bounds; `emptied` is whether it was empty at some moment of the last tenth."""

    value: float
    low: float
    high: float
    emptied: bool


def seconds_needed(
    waiting: "Floats", step_s: float, arrivals_per_s: float, confidence: float
) -> float:
    """Seconds until a queue like this one, sampled every `step_s`, is told from one that grows by a tenth of the arrivals."""
    from scipy.stats import norm

    spectrum = step_s * long_run_variance(_straightened(waiting))
    z = 2 * float(norm.ppf(confidence))
    return float((12 * spectrum * z * z / (GROWTH * arrivals_per_s) ** 2) ** (1 / 3))


def slope_of(waiting: "Floats", step_s: float, confidence: float) -> Slope | None:
    """The slope of a queue sampled evenly; None of too few samples."""
    from scipy.stats import norm

    count = len(waiting)
    if count < _FEWEST:
        return None
    t = (np.arange(count) - (count - 1) / 2) * step_s
    value = float((t * waiting).sum() / (t * t).sum())
    spectrum = step_s * long_run_variance(_straightened(waiting))
    off = float(norm.ppf(confidence)) * sqrt(12 * spectrum / (count * step_s) ** 3)
    last = waiting[int(count * _LAST_PART) :]
    return Slope(value, value - off, value + off, emptied=bool((last <= 0).any()))


def _straightened(waiting: "Floats") -> "Floats":
    """Without its own slope."""
    if len(waiting) < 2:
        return np.zeros(len(waiting))
    t = np.arange(len(waiting)) - (len(waiting) - 1) / 2
    found: Floats = waiting - waiting.mean() - t * (t * waiting).sum() / (t * t).sum()
    return found
