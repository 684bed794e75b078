"""A host's own step cost, from the stamps of a run on it."""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.calibrate.accuracy import replayed_stamps
from vramledger.calibrate.observed import Observed
from vramledger.calibrate.prior import Prior
from vramledger.calibrate.replay import replay
from vramledger.calibrate.solution import Solution, believed, deviation_of, loss, solve
from vramledger.calibrate.stretches import sensitivities, stamped_by
from vramledger.calibrate.terms import FIRST_STEP, TERMS, cost_of
from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost

if TYPE_CHECKING:
    from collections.abc import Callable

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_MOVES: Final = (
    0.3,
    0.3,
    0.3,
    0.15,
    0.15,
    0.15,
    0.15,
    0.15,
)  # of prices, in turn, to see what follows
_SHARES: Final = (1.0, 0.5, 0.25, 0.125)  # of a step, until one helps
_IDENTIFIED: Final = 0.5  # of the prior's spread, below which the run has said something
_FEWEST: Final = 10  # stamps without which a fit is the prior
_DEVIATIONS: Final = 2.0


@frozen
class Price:
    """One term's price, in ns or a factor as `TERMS` says, with the ends of two deviations around it.

    `identified` says whether the run narrowed what was believed before, or the price is mostly that.
    """

    name: str
    value: float
    low: float
    high: float
    believed: float  # before
    identified: bool


@frozen
class HostFit:
    """What a run taught. `error` is the median |replayed / measured - 1| of the times it was fitted to.

    Replay with `cost` and `first_step_ns`; simulate other loads with `cost` alone.
    """

    cost: StepCost
    first_step_ns: int
    prices: tuple[Price, ...]
    until_ns: int
    requests: int  # that had finished by then
    first_tokens: int  # that had come by then
    error: float

    @property
    def identified(self) -> tuple[str, ...]:
        """The terms that the run has determined."""
        return tuple(price.name for price in self.prices if price.identified)

    @property
    def left_open(self) -> tuple[str, ...]:
        """The terms that it left open."""
        return tuple(price.name for price in self.prices if not price.identified)


def fit_host(
    settings: Settings, observed: Observed, prior: Prior, until_ns: int, *, engines: int = 1
) -> HostFit:
    """Fit the step cost to what had been stamped by that moment.

    Gauss-Newton: replays tell how the times follow the prices, the likeliest prices are solved for, and
    a step that does not bring the replay nearer to the run is halved.

    Args:
        settings: of the engine's scheduler, with the pool that the run had.
        observed: the requests of the run; nothing after the moment is looked at, except that requests
            arrive with the lengths they have.
        prior: what is believed of the host.
        until_ns: the moment, since the first arrival.
        engines: data-parallel ones behind a router that goes round.

    Raises:
        CannotKnow: hardly any stamp by then.
    """
    stamped = stamped_by(observed, until_ns)
    measured = stamped.stretches(observed)
    if len(measured) < _FEWEST:
        raise CannotKnow(
            f"Only {len(measured)} tokens are stamped in the first {until_ns / 1e9:.1f} s, too few to "
            "calibrate on; take a longer part of the run."
        )

    def replayed(prices: "Floats") -> "Floats":
        named = _named(prices)
        engines_found = replay(
            settings,
            observed,
            cost_of(named, prior.tables),
            engines=engines,
            first_step_ns=round(named[FIRST_STEP]),
        )
        return stamped.stretches(replayed_stamps(observed, engines_found))

    solution, times = _nearest(measured, replayed, prior)
    return HostFit(
        cost=cost_of(_named(solution.prices), prior.tables),
        first_step_ns=round(_named(solution.prices)[FIRST_STEP]),
        prices=_prices(solution, prior),
        until_ns=until_ns,
        requests=int(stamped.last.sum()),
        first_tokens=int(stamped.first.sum()),
        error=float(np.median(np.abs(times / np.maximum(measured, 1.0) - 1))),
    )


def _nearest(
    measured: "Floats", replayed: "Callable[[Floats], Floats]", prior: Prior
) -> "tuple[Solution, Floats]":
    """The solution whose replay is nearest, and the times of that replay."""
    solution = believed(prior)
    times = replayed(solution.prices)
    covariance = solution.covariance
    for move in _MOVES:
        moved = sensitivities(replayed, solution.prices, times, prior, move)
        aim = solve(measured, times, moved, solution.prices, prior)
        covariance = aim.covariance
        deviation = deviation_of(measured, times)
        now = loss(measured, times, deviation)
        for share in _SHARES:
            prices = solution.prices + share * (aim.prices - solution.prices)
            tried = replayed(prices)
            if loss(measured, tried, deviation) < now:
                solution, times = Solution(prices, covariance), tried
                break
    return Solution(solution.prices, covariance), times


def _named(prices: "Floats") -> dict[str, float]:
    return {term.name: float(price) for term, price in zip(TERMS, prices, strict=True)}


def _prices(solution: Solution, prior: Prior) -> tuple[Price, ...]:
    deviations = np.sqrt(np.diag(solution.covariance))
    found = []
    for term, value, deviation in zip(TERMS, solution.prices, deviations, strict=True):
        found.append(
            Price(
                name=term.name,
                value=float(value),
                low=max(float(value - _DEVIATIONS * deviation), 0.0),
                high=float(value + _DEVIATIONS * deviation),
                believed=prior.prices[term.name],
                identified=bool(deviation < _IDENTIFIED * prior.spreads[term.name]),
            )
        )
    return tuple(found)
