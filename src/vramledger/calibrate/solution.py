"""Prices from measured times, sensitivities and a prior: the likeliest, none below zero, and how sure.

The deviation of a time grows with its root, as a sum of steps that each err by themselves; times far out
count less (Huber). Times of one run are long or short together, so all of them count as
`_INDEPENDENT` ones.
"""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.calibrate.believed import Believed
from vramledger.frozen import frozen

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_INDEPENDENT: Final = 30
_ROUNDS: Final = 20
_OF_NORMAL: Final = 1.4826  # a normal deviation for each median of absolute errors
_FAR: Final = 3.0  # deviations beyond which an error counts linearly
_LEAST_NS: Final = 1e6  # shorter times deviate as this one does


@frozen
class Solution:
    """`prices` in ns in the order of the terms; `covariance` is theirs where none is held at zero."""

    prices: "Floats"
    covariance: "Floats"


def believed(prior: Believed) -> Solution:
    """What is believed before."""
    spreads = np.array(list(prior.spreads.values()))
    return Solution(np.array(list(prior.prices.values())), np.diag(spreads**2))


def solve(
    measured: "Floats", replayed: "Floats", moved: "Floats", at: "Floats", prior: Believed
) -> Solution:
    """The likeliest prices, with times taken to follow prices in straight lines.

    Args:
        measured: times in ns.
        replayed: the same at the prices `at`.
        moved: ``[times, terms]``, their sensitivities there.
        at: the prices of the replay.
        prior: what is believed before.
    """
    from scipy.optimize import nnls

    spreads = np.array(list(prior.spreads.values()))
    expected = np.array(list(prior.prices.values())) / spreads
    scale = np.sqrt(np.maximum(measured, _LEAST_NS))
    features = moved * spreads / scale[:, None]  # of prices counted in spreads
    target = (measured - replayed + moved @ at) / scale
    found, unit = at / spreads, np.eye(len(spreads))
    precision = unit
    for _ in range(_ROUNDS):
        weights = _weights(features @ found - target, prior.least_deviation)
        weighted = features * weights[:, None]
        left = np.concatenate([weighted, unit])
        right = np.concatenate([target * weights, expected])
        found, _ = nnls(left, right, maxiter=2000)
        precision = weighted.T @ weighted + unit
    covariance = np.asarray(np.linalg.inv(precision), np.float64) * np.outer(spreads, spreads)
    return Solution(found * spreads, covariance)


def loss(measured: "Floats", replayed: "Floats", deviation: float) -> float:
    """The mean Huber loss of replayed times."""
    errors = np.abs(_scaled_errors(measured, replayed)) / deviation
    near = np.minimum(errors, _FAR)
    return float((near * (errors - near / 2)).mean())


def deviation_of(measured: "Floats", replayed: "Floats", least: float) -> float:
    """What a time of 1 ns deviates by, at least `least`."""
    return _deviation(_scaled_errors(measured, replayed), least)


def _scaled_errors(measured: "Floats", replayed: "Floats") -> "Floats":
    found: Floats = (replayed - measured) / np.sqrt(np.maximum(measured, _LEAST_NS))
    return found


def _deviation(errors: "Floats", least: float) -> float:
    return max(_OF_NORMAL * float(np.median(np.abs(errors))), least)


def _weights(errors: "Floats", least: float) -> "Floats":
    """Of each time, as one over its deviation."""
    deviation = _deviation(errors, least)
    far = np.maximum(np.abs(errors) / deviation / _FAR, 1.0)
    share = min(_INDEPENDENT / len(errors), 1.0)
    found: Floats = np.sqrt(share / far) / deviation
    return found
