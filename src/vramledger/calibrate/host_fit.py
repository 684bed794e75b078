"""A host's own step cost, from the stamps of a run on it."""

from typing import Final

import numpy as np

from vramledger.calibrate.equations import Equations, equations_of
from vramledger.calibrate.observed import Observed
from vramledger.calibrate.prior import Prior
from vramledger.calibrate.replay import replay
from vramledger.calibrate.solution import Solution, solve
from vramledger.calibrate.terms import FIRST_STEP, TERMS, cost_of
from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost

_TURNS: Final = 8  # of replaying and solving
_SETTLED: Final = 1e-3  # a change of prices that no longer matters
_IDENTIFIED: Final = 0.5  # of the prior's spread, below which the run has said something
_NOTHING_NS: Final = 1e-6
_FEWEST: Final = 10  # stamps without which a fit is the prior
_DEVIATIONS: Final = 2.0


@frozen
class Price:
    """One term's price in ns (the base: a factor), with the ends of two deviations around it.

    `identified` says whether the run narrowed what was believed before, or the price is mostly that.
    """

    name: str
    value: float
    low: float
    high: float
    believed: float
    identified: bool


@frozen
class HostFit:
    """What a run taught. `error_s` is the median error of the stamps that it was fitted to.

    Replay with `cost` and `first_step_ns`; simulate other loads with `cost` alone.
    """

    cost: StepCost
    first_step_ns: int
    prices: tuple[Price, ...]
    prior: Prior
    until_ns: int
    requests: int  # that had finished by then
    stamps: int
    error_s: float

    @property
    def identified(self) -> tuple[str, ...]:
        """The terms that the run has determined."""
        return tuple(price.name for price in self.prices if price.identified)

    @property
    def believed(self) -> tuple[str, ...]:
        """The terms that it left open."""
        return tuple(price.name for price in self.prices if not price.identified)


def fit_host(
    settings: Settings, observed: Observed, prior: Prior, until_ns: int, *, engines: int = 1
) -> HostFit:
    """Fit the step cost to what had been stamped by that moment.

    Replays and solutions take turns until the prices stay; the turn whose replay is nearest to the
    stamps counts.

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
    turns: list[_Turn] = []
    following = _as_believed(prior)
    for _ in range(_TURNS):
        turn = _turn(settings, observed, prior, until_ns, engines, following)
        turns.append(turn)
        following = solve(turn.equations, prior)
        if _settled(turn.solution, following):
            break
    best = min(turns[1:] or turns, key=lambda turn: turn.error)
    return _fit(best, observed, prior, until_ns)


@frozen
class _Turn:
    """A solution, the equations of its own replay, and the mean of their absolute errors in ns."""

    solution: Solution
    equations: Equations
    error: float


def _as_believed(prior: Prior) -> Solution:
    spreads = np.array(list(prior.spreads.values()))
    return Solution(np.array(list(prior.prices.values())), np.diag(spreads**2))


def _turn(
    settings: Settings,
    observed: Observed,
    prior: Prior,
    until_ns: int,
    engines: int,
    solution: Solution,
) -> _Turn:
    prices = _named(solution)
    played = replay(
        settings,
        observed,
        cost_of(prices, prior.table),
        engines=engines,
        first_step_ns=round(prices[FIRST_STEP]),
    )
    equations = equations_of(observed, played, prior.table, until_ns)
    if len(equations) < _FEWEST:
        raise CannotKnow(
            f"Only {len(equations)} tokens are stamped in the first {until_ns / 1e9:.1f} s, too few to "
            "calibrate on; take a longer part of the run."
        )
    return _Turn(solution, equations, float(np.abs(equations.errors(solution.prices)).mean()))


def _settled(one: Solution, other: Solution) -> bool:
    near = np.abs(one.prices - other.prices) <= _SETTLED * one.prices + _NOTHING_NS
    return bool(near.all())


def _named(solution: Solution) -> dict[str, float]:
    return {term.name: float(price) for term, price in zip(TERMS, solution.prices, strict=True)}


def _fit(turn: _Turn, observed: Observed, prior: Prior, until_ns: int) -> HostFit:
    errors = np.abs(turn.equations.errors(turn.solution.prices))
    return HostFit(
        cost=cost_of(_named(turn.solution), prior.table),
        first_step_ns=round(_named(turn.solution)[FIRST_STEP]),
        prices=_prices(turn.solution, prior),
        prior=prior,
        until_ns=until_ns,
        requests=int(observed.finished_by(until_ns).sum()),
        stamps=len(turn.equations),
        error_s=float(np.median(errors)) / 1e9,
    )


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
