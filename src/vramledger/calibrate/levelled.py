"""A first guess of a host of which nothing is known: faster or slower throughout than the shipped model.

A processor without a data sheet, or a card ten times off, is out of reach of a linear fit around the shipped model. One
common factor is searched first; what is believed of each term is then that factor, with the same relative spread.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import exp, log
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from vramledger.calibrate.accuracy import replayed_stamps
from vramledger.calibrate.host_fit import Load
from vramledger.calibrate.host_prior import FIRST_STEP, HostPrior
from vramledger.calibrate.replay import replay
from vramledger.calibrate.stretches import stamped_by

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_NEAR: Final = 1.6  # a factor within which the shipped model is near enough
_FARTHEST: Final = 1e4
_ROUNDS: Final = 24
_CLOSE: Final = 0.02  # of the logarithm


def levelled(prior: HostPrior, loads: Sequence[Load]) -> HostPrior:
    """The prior, or where the runs are far from it the prior at the factor that brings it nearest."""
    factor = _factor(prior, loads)
    if 1 / _NEAR <= factor <= _NEAR:
        return prior
    return at_level(prior, factor)


def at_level(prior: HostPrior, factor: float) -> HostPrior:
    """The prior of a host that takes `factor` times as long; a term alone may be nothing of that, or twice."""
    prices = {name: price * factor for name, price in prior.prices.items()}
    spreads = {name: max(spread, 1.0) * factor for name, spread in prior.spreads.items()}
    spreads[FIRST_STEP] = prior.spreads[FIRST_STEP]
    return replace(prior, prices=prices, spreads=spreads)


def _factor(prior: HostPrior, loads: Sequence[Load]) -> float:
    """By bisection on the logarithm: the total time from first to last tokens grows with the factor."""
    low, high = -log(_FARTHEST), log(_FARTHEST)
    at = 0.0
    for _ in range(_ROUNDS):
        if _too_slow(prior, loads, exp(at)):
            high = at
        else:
            low = at
        if high - low < _CLOSE:
            break
        at = _next(at, low, high)
    return exp((low + high) / 2)


def _next(at: float, low: float, high: float) -> float:
    """Wider and wider steps from 0 while one end is far, then the middle."""
    if high == log(_FARTHEST):
        return min(2 * at + log(2), (at + high) / 2)
    if low == -log(_FARTHEST):
        return max(2 * at - log(2), (at + low) / 2)
    return (low + high) / 2


def _too_slow(prior: HostPrior, loads: Sequence[Load], factor: float) -> bool:
    prices = {name: price * factor for name, price in prior.prices.items()}
    cost = prior.cost(prices)
    measured = played = 0.0
    for load in loads:
        engines = replay(
            load.settings, prior.reaching(load.observed, prices), cost, engines=load.engines
        )
        stamped = stamped_by(load.observed, load.until_ns)
        again = replayed_stamps(load.observed, engines)
        measured += _decoding(
            load.observed.last_token_ns, load.observed.first_token_ns, stamped.last
        )
        played += _decoding(again.last_token_ns, again.first_token_ns, stamped.last)
    return played > measured


def _decoding(last: "Array", first: "Array", chosen: "Array") -> float:
    return float((last - first)[chosen].sum())
