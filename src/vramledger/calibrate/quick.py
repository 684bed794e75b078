"""Three measurements by hand to a host's coefficients: one stream, one full prefill step, a large batch.

One stream's TPOT tells what a step takes that does nothing but read the weights; a step full of prompt tokens what
computing takes; a large batch at known contexts what reading the cache and each request add. Whatever else a host
differs in stays as believed, and says so by its interval. Formulas: docs/explanation/host-calibration.md.
"""

from collections.abc import Mapping
from math import sqrt
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.calibrate.host_fit import HostFit, Price
from vramledger.calibrate.host_prior import HostPrior
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.simulate.step import Features

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_ERROR: Final = 0.01  # one deviation of a measured time, as a share of it
_LEAST: Final = 1e-3
_IDENTIFIED: Final = 0.5  # of the spread
_NANO: Final = 1e9


@frozen
class Timed:
    """A step that was timed: `decodes` requests with `context` tokens each, and `prompt_tokens` of one prompt."""

    seconds: float
    decodes: int = 0
    context: float = 0.0
    prompt_tokens: int = 0
    error: float = _ERROR

    def features(self) -> Features:
        """What its cost depends on; a prompt that begins attends to half of itself."""
        pairs = round(self.prompt_tokens * self.prompt_tokens / 2)
        return Features(
            self.prompt_tokens,
            min(self.prompt_tokens, 1),
            pairs,
            self.decodes,
            self.decodes,
            round(self.decodes * self.context),
        )


@frozen
class Front:
    """The first token of a prompt on an idle server, from sending: front and one step, as the prompt fits into one."""

    seconds: float
    prompt_tokens: int
    error: float = 0.05


def fit_quick(
    prior: HostPrior, steps: tuple[Timed, ...], fronts: tuple[Front, ...] = ()
) -> HostFit:
    """The likeliest prices, by least squares over what was timed and what is believed.

    Raises:
        BadInput: no time, or one that is none.
    """
    from scipy.optimize import least_squares

    times = np.array([*(each.seconds for each in steps), *(each.seconds for each in fronts)])
    if not len(times) or not (np.isfinite(times) & (times > 0)).all():
        raise BadInput("A measured time is no number of seconds above 0; measure it again.")
    errors = np.array([*(each.error for each in steps), *(each.error for each in fronts)])
    names = list(prior.prices)
    believed = np.array(list(prior.prices.values()))
    spreads = np.array(list(prior.spreads.values()))

    def residuals(prices: "Floats") -> "Floats":
        found = _seconds(prior, dict(zip(names, prices, strict=True)), steps, fronts)
        return np.concatenate([(found / times - 1) / errors, (prices - believed) / spreads])

    start = np.maximum(believed, _LEAST)
    solved = least_squares(residuals, start, bounds=(0.0, np.inf), diff_step=1e-3)
    covariance = np.linalg.inv(solved.jac.T @ solved.jac)
    found = dict(zip(names, (float(x) for x in solved.x), strict=True))
    reached = _seconds(prior, found, steps, fronts)
    return HostFit(
        cost=prior.cost(found),
        first_step_ns=prior.first_step_ns(found),
        prices=_prices(prior, found, covariance),
        until_ns=0,
        requests=0,
        first_tokens=0,
        error=float(np.median(np.abs(reached / times - 1))),
        covariance=tuple(tuple(row) for row in covariance.tolist()),
    )


def _seconds(
    prior: HostPrior,
    prices: Mapping[str, float],
    steps: tuple[Timed, ...],
    fronts: tuple[Front, ...],
) -> "Floats":
    cost = prior.cost(prices)
    found = [cost(step.features()) / _NANO for step in steps]
    c = prior.host(prices)
    for front in fronts:
        waited_ms = c.front_ms + c.front_ms_per_1000_tokens * front.prompt_tokens / 1000
        small = Timed(0.0, prompt_tokens=front.prompt_tokens)
        found.append(waited_ms / 1000 + cost(small.features()) / _NANO)
    return np.array(found)


def _prices(
    prior: HostPrior, found: Mapping[str, float], covariance: "Floats"
) -> tuple[Price, ...]:
    prices = []
    for place, (name, value) in enumerate(found.items()):
        deviation = sqrt(float(covariance[place][place]))
        prices.append(
            Price(
                name=name,
                value=value,
                low=max(value - 2 * deviation, 0.0),
                high=value + 2 * deviation,
                believed=prior.prices[name],
                identified=deviation < _IDENTIFIED * prior.spreads[name],
            )
        )
    return tuple(prices)
