"""A host's own step cost, from the stamps of a run on it."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.calibrate.accuracy import replayed_stamps
from vramledger.calibrate.believed import Believed
from vramledger.calibrate.observed import Observed
from vramledger.calibrate.replay import replay
from vramledger.calibrate.solution import Solution, believed, deviation_of, loss, solve
from vramledger.calibrate.stretches import sensitivities, stamped_by
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
_LEVEL: Final = 0.1  # of the logarithm of all times together, within which a step may end
_FEWEST: Final = 10  # stamps without which a fit is the prior
_DEVIATIONS: Final = 2.0


@frozen
class Price:
    """One term's price, in ns or a factor as its prior has it, with the ends of two deviations around it.

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
    covariance: tuple[tuple[float, ...], ...]  # of the prices, in their order

    @property
    def identified(self) -> tuple[str, ...]:
        """The terms that the run has determined."""
        return tuple(price.name for price in self.prices if price.identified)

    @property
    def left_open(self) -> tuple[str, ...]:
        """The terms that it left open."""
        return tuple(price.name for price in self.prices if not price.identified)


@frozen
class Load:
    """What a run served: its requests, stamped, on `engines` equal engines behind a router that goes round.

    Nothing after `until_ns`, since the first arrival, is looked at, except that requests arrive with the lengths
    they have. `settings` are of the engine's scheduler, with the pool that the run had.
    """

    settings: Settings
    observed: Observed
    until_ns: int
    engines: int = 1


def fit_host(
    settings: Settings, observed: Observed, prior: Believed, until_ns: int, *, engines: int = 1
) -> HostFit:
    """As `fit_loads`, of one load."""
    return fit_loads((Load(settings, observed, until_ns, engines),), prior)


def fit_loads(
    loads: Sequence[Load], prior: Believed, start: Mapping[str, float] | None = None
) -> HostFit:
    """Fit the step cost to what had been stamped by the moments of the loads, all of one deployment.

    Gauss-Newton: replays tell how the times follow the prices, the likeliest prices are solved for, and
    a step that does not bring the replay nearer to the runs is halved. It sets out from `start`, by default from
    what is believed.

    Raises:
        CannotKnow: hardly any stamp by then.
    """
    stamped = [stamped_by(load.observed, load.until_ns) for load in loads]
    pairs = list(zip(stamped, loads, strict=True))
    measured = np.concatenate([each.stretches(load.observed) for each, load in pairs])
    if len(measured) < _FEWEST:
        longest = max(load.until_ns for load in loads)
        raise CannotKnow(
            f"Only {len(measured)} tokens are stamped in the first {longest / 1e9:.1f} s, too few to "
            "calibrate on; take a longer part of the run."
        )

    def replayed(prices: "Floats") -> "Floats":
        named = _named(prices, prior)
        cost = prior.cost(named)
        return np.concatenate(
            [each.stretches(_stamps(load, prior, named, cost)) for each, load in pairs]
        )

    solution, times = _nearest(measured, replayed, prior, start or prior.prices)
    found = _named(solution.prices, prior)
    return HostFit(
        cost=prior.cost(found),
        first_step_ns=prior.first_step_ns(found),
        prices=_prices(solution, prior),
        until_ns=max(load.until_ns for load in loads),
        requests=sum(int(each.last.sum()) for each in stamped),
        first_tokens=sum(int(each.first.sum()) for each in stamped),
        error=float(np.median(np.abs(times / np.maximum(measured, 1.0) - 1))),
        covariance=tuple(tuple(row) for row in solution.covariance.tolist()),
    )


def _stamps(load: Load, prior: Believed, named: Mapping[str, float], cost: StepCost) -> Observed:
    """The load as it would have gone at such prices."""
    played = replay(
        load.settings,
        prior.reaching(load.observed, named),
        cost,
        engines=load.engines,
        first_step_ns=prior.first_step_ns(named),
    )
    return replayed_stamps(load.observed, played)


def _nearest(
    measured: "Floats",
    replayed: "Callable[[Floats], Floats]",
    prior: Believed,
    start: Mapping[str, float],
) -> "tuple[Solution, Floats]":
    """The solution whose replay is nearest, and the times of that replay."""
    begun = np.array([start[name] for name in prior.prices])
    solution = Solution(begun, believed(prior).covariance)
    times = replayed(solution.prices)
    covariance, aimed = solution.covariance, solution.prices
    for move in _MOVES:
        moved = sensitivities(replayed, solution.prices, times, prior, move)
        aim = solve(measured, times, moved, solution.prices, prior)
        covariance, aimed = aim.covariance, aim.prices
        deviation = deviation_of(measured, times, prior.least_deviation)
        now = loss(measured, times, deviation)
        for share in _SHARES:
            prices = solution.prices + share * (aim.prices - solution.prices)
            tried = replayed(prices)
            nearer = loss(measured, tried, deviation) < now
            if nearer and _off(measured, tried) <= max(_off(measured, times), _LEVEL):
                solution, times = Solution(prices, covariance), tried
                break
    under_way = np.diag((aimed - solution.prices) ** 2)  # where the last replays still point
    return Solution(solution.prices, covariance + under_way), times


def _off(measured: "Floats", times: "Floats") -> float:
    """How far all times together are off, as a logarithm.

    The loss counts times far out little, so that prices at which most are far out can look near.
    """
    return float(abs(np.log(max(times.sum(), 1.0) / max(measured.sum(), 1.0))))


def _named(prices: "Floats", prior: Believed) -> dict[str, float]:
    return {name: float(price) for name, price in zip(prior.prices, prices, strict=True)}


def _prices(solution: Solution, prior: Believed) -> tuple[Price, ...]:
    deviations = np.sqrt(np.diag(solution.covariance))
    found = []
    for name, value, deviation in zip(prior.prices, solution.prices, deviations, strict=True):
        found.append(
            Price(
                name=name,
                value=float(value),
                low=max(float(value - _DEVIATIONS * deviation), 0.0),
                high=float(value + _DEVIATIONS * deviation),
                believed=prior.prices[name],
                identified=bool(deviation < _IDENTIFIED * prior.spreads[name]),
            )
        )
    return tuple(found)
