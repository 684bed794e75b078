"""Prices from equations and a prior: the likeliest ones, none below zero, and how sure they are.

Iterated least squares with weights that fall off for stamps far out (as least absolute errors
have them). Stamps of one run are late or early together, so all of them count as `_INDEPENDENT` ones.
"""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.calibrate.equations import Equations
from vramledger.calibrate.prior import Prior
from vramledger.frozen import frozen

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_INDEPENDENT: Final = 30
_ROUNDS: Final = 20
_LEAST_NS: Final = 1e6  # below which errors are no worse than none
_OF_NORMAL: Final = 1.4826  # a normal deviation for each median of absolute errors


@frozen
class Solution:
    """`prices` in ns in the order of the terms; `covariance` is theirs where none is held at zero."""

    prices: "Floats"
    covariance: "Floats"


def solve(equations: Equations, prior: Prior) -> Solution:
    """The likeliest prices. Without equations they are the prior's."""
    from scipy.optimize import nnls

    believed = np.array(list(prior.prices.values()))
    spreads = np.array(list(prior.spreads.values()))
    scaled = Equations(equations.features * spreads, equations.times)  # prices in spreads
    found, precision = believed / spreads, np.eye(len(spreads))
    for _ in range(_ROUNDS if len(equations) else 0):
        weights = _weights(scaled.errors(found))
        weighted = scaled.features * weights[:, None]
        left = np.concatenate([weighted, np.eye(len(spreads))])
        right = np.concatenate([scaled.times * weights, believed / spreads])
        found, _ = nnls(left, right, maxiter=1000)
        precision = weighted.T @ weighted + np.eye(len(spreads))
    covariance = np.asarray(np.linalg.inv(precision), np.float64) * np.outer(spreads, spreads)
    return Solution(found * spreads, covariance)


def _weights(errors: "Floats") -> "Floats":
    """Of each equation, as one over its deviation in ns."""
    size = np.abs(errors)
    deviation = max(_OF_NORMAL * float(np.median(size)), _LEAST_NS)
    far = np.maximum(size / deviation, 1.0)
    share = min(_INDEPENDENT / len(errors), 1.0)
    found: Floats = np.sqrt(share / far) / deviation
    return found
