"""What is believed of a host before its run: the shipped coefficients, each term of `host_terms` at a factor of 1.

A fit in these terms carries over: they are shares and times of the machine, and any deployment's step time follows
from them. `prior.Prior` is the same for one deployment alone, in the form that its stamps tell best.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from vramledger.calibrate.observed import Observed
from vramledger.engine.vllm.deployment import Deployment
from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.simulate.priced import Typical, step_cost
from vramledger.simulate.step_cost import StepCost
from vramledger.simulate.timing.coefficients import Coefficients
from vramledger.simulate.timing.host_terms import FRONT, LINK, TERMS, adjusted, spread_of
from vramledger.simulate.timing.work import Work, work_of

FIRST_STEP: Final = "first_step"
_FIRST_STEP_NS: Final = 3e8  # seen: 0.07 s with worker processes, 0.35 s without
_MILLI: Final = 1e6
_LEAST: Final = 1e-3


@frozen
class HostPrior:
    """Factors by term with their spreads. `client` says that arrivals are stamped before the server's front."""

    prices: dict[str, float]
    spreads: dict[str, float]
    work: Work
    coefficients: Coefficients
    typical: Typical
    sequences: int
    client: bool

    @property
    def least_deviation(self) -> float:
        """30 ms in a second, 100 ms in ten: hosts differ in more than these terms."""
        return 1000.0

    def host(self, prices: Mapping[str, float]) -> Coefficients:
        """The host's coefficients at such factors; at 0 work costs next to nothing."""
        factors = {n: max(price, _LEAST) for n, price in prices.items() if n != FIRST_STEP}
        return adjusted(self.coefficients, factors)

    def cost(self, prices: Mapping[str, float]) -> StepCost:
        """The step cost at such factors."""
        return step_cost(self.work, self.host(prices), self.typical, self.sequences)

    def first_step_ns(self, prices: Mapping[str, float]) -> int:
        """How long after the first arrival the engine begins to work."""
        return round(prices.get(FIRST_STEP, 0.0) * _FIRST_STEP_NS)

    def reaching(self, observed: Observed, prices: Mapping[str, float]) -> Observed:
        """The requests after the server's front, where the stamps are a client's."""
        if not self.client:
            return observed
        c = self.host(prices)
        front_ms = c.front_ms + c.front_ms_per_1000_tokens * observed.input_tokens / 1000
        late = np.rint(front_ms * _MILLI).astype(np.int64)
        return replace(observed, arrival_ns=observed.arrival_ns + late)


def host_prior(
    deployment: Deployment, coefficients: Coefficients, typical: Typical, *, client: bool
) -> HostPrior:
    """The prior of a deployment's host under a load of such contexts.

    Terms that have no part in its steps are left out: links of one GPU, and the front in stamps of an engine.

    Raises:
        CannotKnow: pipeline stages, or a card whose bandwidth, peak or link the catalogue lacks.
    """
    if deployment.layout.pp > 1:
        raise CannotKnow(
            f"The steps of {deployment.layout.pp} pipeline stages overlap, which is not calibrated; calibrate a layout with "
            "--pipeline-parallel-size 1."
        )
    work = work_of(deployment)
    linked = work.tensor_link.ranks > 1 or (work.replicas > 1 and work.experts > 0)
    absent = {LINK: not linked, FRONT: not client}
    spreads = {term.name: spread_of(term, work) for term in TERMS if not absent.get(term.name)}
    prices = dict.fromkeys(spreads, 1.0)
    prices[FIRST_STEP], spreads[FIRST_STEP] = 0.0, 1.0
    return HostPrior(
        prices, spreads, work, coefficients, typical, deployment.max_num_seqs.value, client
    )
