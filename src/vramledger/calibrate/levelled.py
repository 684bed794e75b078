"""Where a fit begins: a host that is faster or slower throughout than the shipped model.

Under load, times follow prices in no straight line: a host half again as slow has a queue where the shipped model has
none, and a fit from there loses its way. One common factor is searched first. Where it is far from 1 (a processor
without a data sheet, a card ten times off), what is believed of each term is that factor, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, log
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from vramledger.calibrate.accuracy import replayed_stamps
from vramledger.calibrate.host_fit import Load
from vramledger.calibrate.host_prior import FIRST_STEP, HostPrior
from vramledger.calibrate.replay import replay
from vramledger.calibrate.stretches import stamped_by
from vramledger.frozen import frozen

if TYPE_CHECKING:
    import numpy as np

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_NEAR: Final = 1.6  # a factor within which the shipped model is near enough
_FARTHEST: Final = 1e4
_ROUNDS: Final = 24
_CLOSE: Final = 0.02  # of the logarithm


@frozen
class Level:
    """What is believed, and the prices from which a fit sets out."""

    prior: HostPrior
    start: Mapping[str, float]


def levelled(prior: HostPrior, loads: Sequence[Load]) -> Level:
    """The level of the host that had these runs."""
    factor = _factor(prior, loads)
    start = {name: price * factor for name, price in prior.prices.items()}
    near = 1 / _NEAR <= factor <= _NEAR
    return Level(prior if near else at_level(prior, factor), start)


def at_level(prior: HostPrior, factor: float) -> HostPrior:
    """The prior of a host that takes `factor` times as long; a term alone may be nothing of that, or twice."""
    prices = {name: price * factor for name, price in prior.prices.items()}
    spreads = {name: max(spread, 1.0) * factor for name, spread in prior.spreads.items()}
    spreads[FIRST_STEP] = prior.spreads[FIRST_STEP]
    return replace(prior, prices=prices, spreads=spreads)


def _factor(prior: HostPrior, loads: Sequence[Load]) -> float:
    """By bisection on the logarithm: the total time from arrivals to last tokens grows with the factor."""
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
        arrival = load.observed.arrival_ns
        measured += _total(load.observed.last_token_ns - arrival, stamped.last)
        played += _total(again.last_token_ns - arrival, stamped.last)
    return played > measured


def _total(times: "Array", chosen: "Array") -> float:
    return float(times[chosen].sum())
