"""The smallest effect that a sample could have seen, and the sample that sees a given one.

Of m figures the surest must pass 0.05 / m (S. Holm's first step), so an effect is found with a power of 80 % where it is
``t(1 - 0.05 / 2m) + t(0.8)`` standard errors large. The error shrinks with the root of the sample. An error that was found of a small
sample may be too small by chance; the sample asked for has the error that is exceeded in one case of five only
(``error^2 x f / chi2(0.2, f)``, f its degrees of freedom), as M. Kieser and G. Wassmer do (Biometrical Journal 38, 1996, 941-949).
"""

from math import ceil, expm1, inf, isfinite, log1p, sqrt
from typing import Final

from vramledger.compare.effect import Effect

POWER: Final = 0.8
ALPHA: Final = 0.05
_ASSURANCE: Final = 0.2
_MOST_RUNS: Final = 1000


def smallest_seen(effect: Effect, figures: int) -> float | None:
    """The size that this sample finds with a power of `POWER`: a share of A, or a difference of shares. None where it finds none."""
    if effect.error is None or effect.freedom < 1:
        return None
    reach = _reach(effect.freedom, figures) * effect.error
    if not isfinite(reach) or reach > 50:
        return None
    return reach if effect.relative is None else expm1(reach)


def requests_needed(effect: Effect, size: float, figures: int) -> int | None:
    """How many requests a side should have sent in one run to find an effect of that size; None where runs count, or it is unknown."""
    if effect.error is None or effect.runs > 1 or effect.freedom < 1 or size <= 0:
        return None
    least = _least_error(effect, size, figures, inf)
    return max(ceil(effect.counted * _pessimistic(effect) / least**2), 1)


def runs_needed(effect: Effect, size: float, figures: int) -> int | None:
    """How many runs a side should have to find an effect of that size; None where there is one, or no sensible number does."""
    if effect.error is None or effect.runs < 2 or size <= 0:
        return None
    spread2 = _pessimistic(effect) * effect.runs
    return next(
        (
            runs
            for runs in range(2, _MOST_RUNS + 1)
            if sqrt(spread2 / runs) <= _least_error(effect, size, figures, runs - 1)
        ),
        None,
    )


def _least_error(effect: Effect, size: float, figures: int, freedom: float) -> float:
    """The standard error with which it is found."""
    return (size if effect.relative is None else log1p(size)) / _reach(freedom, figures)


def _reach(freedom: float, figures: int) -> float:
    from scipy.special import stdtrit

    f = freedom if isfinite(freedom) else 1e9
    return float(stdtrit(f, 1 - ALPHA / 2 / max(figures, 1)) + stdtrit(f, POWER))


def _pessimistic(effect: Effect) -> float:
    """The square of the error as it may be."""
    from scipy.stats import chi2

    error = effect.error or 0.0
    if not isfinite(effect.freedom):
        return error**2
    return error**2 * effect.freedom / float(chi2.ppf(_ASSURANCE, effect.freedom))
