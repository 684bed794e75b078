"""Errors and bands from logarithms of predicted over measured."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from timing_fit.evaluate import Point

_ENDS = (0.04, 0.96)  # of the ratios inside the band


@dataclass(frozen=True, slots=True)
class Score:
    """Errors |predicted / measured - 1| of a set of rows, and the median bias as a logarithm."""

    name: str
    rows: int
    tpot_mean: float
    tpot_median: float
    ttft_mean: float
    ttft_median: float
    tpot_bias: float
    ttft_bias: float


@dataclass(frozen=True, slots=True)
class Bands:
    """Predicted over measured."""

    low: float
    high: float


def score(name: str, logs: NDArray[np.float64]) -> Score:
    """The score of ``[rows, 2]`` logarithms."""
    errors = np.abs(np.exp(logs) - 1)
    return Score(
        name,
        len(logs),
        float(errors[:, 0].mean()),
        float(np.median(errors[:, 0])),
        float(errors[:, 1].mean()),
        float(np.median(errors[:, 1])),
        float(np.median(logs[:, 0])),
        float(np.median(logs[:, 1])),
    )


def scores_by(
    points: Sequence[Point], logs: NDArray[np.float64], name: Callable[[Point], str]
) -> list[Score]:
    """One score for each name, by name."""
    names = [name(point) for point in points]
    return [
        score(one, logs[np.array([other == one for other in names])])
        for one in sorted(dict.fromkeys(names))
    ]


def band(logs: NDArray[np.float64]) -> Bands:
    """The ends that hold most of the ratios; 1 lies inside."""
    low, high = np.quantile(logs, _ENDS)
    return Bands(min(float(np.exp(low)), 0.99), max(float(np.exp(high)), 1.01))


def coverage(points: Sequence[Point], logs: NDArray[np.float64]) -> float:
    """Share of rows inside a band that the other groups' ratios make."""
    groups = [point.row.group for point in points]
    inside = 0
    for group in dict.fromkeys(groups):
        own = np.array([other == group for other in groups])
        made = band(logs[~own])
        ratios = np.exp(logs[own])
        inside += int(np.count_nonzero((ratios >= made.low) & (ratios <= made.high)))
    return inside / len(points)
