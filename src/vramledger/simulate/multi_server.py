"""Queues with several equal servers: the mean wait before service begins, as in `theory`.

Sources: L. Kleinrock, Queueing Systems I (1975) for M/M/c (Erlang 1917); F. Spitzer, Trans. AMS 82 (1956) 323-339 for the
series of M/D/c (the same as that of C. D. Crommelin, POEE Journal 25 (1932) 41-50); G. P. Cosmetatos, INFOR 13 (1975)
328-331 for its approximation; A. M. Lee and P. A. Longton, Oper. Res. Quart. 10 (1959) 56-71 for M/G/c.
"""

import math
from typing import Final

from vramledger.simulate.theory import (
    Service,
    Wait,
    exponential,
    fixed,
    md1_wait,
    unbounded,
    utilisation_of,
)

_HEAVY: Final = 0.99  # utilisation above which the series of M/D/c takes too many terms
_TERMS: Final = 4_096
_NEGLIGIBLE: Final = 1e-12  # of the sum so far


def mmc_wait(rate_per_s: float, mean_s: float, servers: int) -> Wait:
    """M/M/c, exact (Erlang C): W = P(wait) S / (c (1 - utilisation)).

    Raises:
        BadInput: the rate, the time or the servers are not above 0.
    """
    utilisation = utilisation_of(rate_per_s, exponential(mean_s), servers)
    if utilisation >= 1:
        return unbounded(utilisation)
    waiting = _erlang_c(rate_per_s * mean_s, servers)
    return Wait(
        waiting * mean_s / (servers * (1 - utilisation)), utilisation, "M/M/c, exact (Erlang C)"
    )


def mdc_wait(rate_per_s: float, service_s: float, servers: int) -> Wait:
    """M/D/c. No closed form is known; up to a utilisation of 0.99 an exact series, else Cosmetatos.

    The series: every c-th request meets the queue (W + S - A)+ with A a sum of c times between
    arrivals, so that by Spitzer's identity W = sum over k >= 1 of E[(k S - A_kc)+] / k
    = sum of S P(N >= k c) - c / rate x P(N >= k c + 1), N Poisson with mean rate k S.

    Cosmetatos, exact in the limit of utilisation 1:
    W = W(M/M/c) / 2 x (1 + (1 - u) (c - 1) (sqrt(4 + 5 c) - 2) / (16 u c)).

    Raises:
        BadInput: the rate, the time or the servers are not above 0.
    """
    utilisation = utilisation_of(rate_per_s, fixed(service_s), servers)
    if utilisation >= 1:
        return unbounded(utilisation)
    if servers == 1:
        return md1_wait(rate_per_s, service_s)
    if utilisation <= _HEAVY:
        mean = _spitzer_sum(rate_per_s, service_s, servers)
        return Wait(mean, utilisation, "M/D/c, exact series (Spitzer, Crommelin)")
    correction = (1 - utilisation) * (servers - 1) * (math.sqrt(4 + 5 * servers) - 2)
    factor = (1 + correction / (16 * utilisation * servers)) / 2
    mean = factor * mmc_wait(rate_per_s, service_s, servers).mean_s
    return Wait(mean, utilisation, "M/D/c, approximation (Cosmetatos)")


def mgc_wait(rate_per_s: float, service: Service, servers: int) -> Wait:
    """M/G/c, an approximation (Lee and Longton): W = (1 + variability) / 2 x W(M/M/c).

    Exact for exponential times and for one server.

    Raises:
        BadInput: the rate or the servers are not above 0.
    """
    exact = mmc_wait(rate_per_s, service.mean_s, servers)
    if not exact.bounded:
        return exact
    mean = (1 + service.variability) / 2 * exact.mean_s
    return Wait(mean, exact.utilisation, "M/G/c, approximation (Lee and Longton)")


def _erlang_c(load: float, servers: int) -> float:
    """Probability of waiting at an offered load in Erlang, by the recursion of Erlang B."""
    blocked = 1.0
    for count in range(1, servers + 1):
        blocked = load * blocked / (count + load * blocked)
    return blocked / (1 - load / servers * (1 - blocked))


def _spitzer_sum(rate_per_s: float, service_s: float, servers: int) -> float:
    import numpy as np
    from scipy.special import gammainc  # gammainc(m, x) = P(Poisson(x) >= m)

    total, first = 0.0, 1
    while True:
        k = np.arange(first, first + _TERMS)
        arrivals = rate_per_s * service_s * k
        terms = service_s * gammainc(k * servers, arrivals)
        terms -= servers / rate_per_s * gammainc(k * servers + 1, arrivals)
        total += math.fsum(terms)
        if terms[-1] * _TERMS <= _NEGLIGIBLE * total:
            return total
        first += _TERMS
