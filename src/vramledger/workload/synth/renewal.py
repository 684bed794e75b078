"""Arrivals with independent gaps of one distribution: Poisson, gamma, Weibull.

`cv` is the coefficient of variation of the gaps; over long windows the variance of counts is cv^2
times their mean (Cox, Renewal Theory, 1962, section 4.5), which is how a profile's dispersion
becomes a cv.
"""

from collections.abc import Callable, Iterator, Mapping
from math import exp, lgamma
from typing import TYPE_CHECKING, Final, TypeAlias

from vramledger.errors import BadInput
from vramledger.workload.synth.draws import CHUNK

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Gaps: TypeAlias = "Callable[[np.random.Generator, int], NDArray[np.float64]]"  # of mean 1
_LEAST_SHAPE: Final = 0.1
_MOST_SHAPE: Final = 50.0


def renewal(
    gaps: Gaps, mean_gap_s: float, rng: "np.random.Generator"
) -> "Iterator[NDArray[np.float64]]":
    """Endless chunks of arrival times, the first of them at 0."""
    import numpy as np

    clock = 0.0
    first = True
    while True:
        drawn = gaps(rng, CHUNK) * mean_gap_s
        if first:
            drawn[0], first = 0.0, False
        times = clock + np.cumsum(drawn)
        clock = float(times[-1])
        yield times


def poisson(cv: float) -> Gaps:
    """Exponential gaps, whatever the cv."""
    del cv
    return lambda rng, count: rng.standard_exponential(count)


def gamma(cv: float) -> Gaps:
    """Gamma gaps of shape 1 / cv^2."""
    return gamma_of_shape(1 / cv**2)


def weibull(cv: float) -> Gaps:
    """Weibull gaps of the shape that has this cv."""
    return weibull_of_shape(weibull_shape(cv))


def gamma_of_shape(shape: float) -> Gaps:
    """Gamma gaps."""
    return lambda rng, count: rng.standard_gamma(shape, count) / shape


def weibull_of_shape(shape: float) -> Gaps:
    """Weibull gaps; their mean without a scale is Gamma(1 + 1/k)."""
    scale = exp(-lgamma(1 + 1 / shape))
    return lambda rng, count: rng.weibull(shape, count) * scale


RENEWALS: Final[Mapping[str, Callable[[float], Gaps]]] = {
    "poisson": poisson,
    "gamma": gamma,
    "weibull": weibull,
}


def weibull_shape(cv: float) -> float:
    """The k with Gamma(1 + 2/k) / Gamma(1 + 1/k)^2 - 1 = cv^2.

    Raises:
        BadInput: no k between 0.1 and 50 has it.
    """
    from scipy.optimize import brentq

    def excess(shape: float) -> float:
        return _weibull_cv(shape) - cv

    if excess(_LEAST_SHAPE) < 0 or excess(_MOST_SHAPE) > 0:
        raise BadInput(
            f"--cv {cv:g} is beyond what Weibull gaps can have "
            f"({_weibull_cv(_MOST_SHAPE):.2g} to {_weibull_cv(_LEAST_SHAPE):.0f}); take another "
            "--cv, or --arrivals gamma."
        )
    return float(brentq(excess, _LEAST_SHAPE, _MOST_SHAPE, xtol=1e-12))


def _weibull_cv(shape: float) -> float:
    return float((exp(lgamma(1 + 2 / shape) - 2 * lgamma(1 + 1 / shape)) - 1) ** 0.5)
