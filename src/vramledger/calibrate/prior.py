"""What is believed of a host's step time before its run is looked at: the shipped timing model.

How far each term may be off says the spread. It decides only what the run leaves open, such as how
reading and context share the time of steps that all have the same context.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.calibrate.observed import Observed
from vramledger.calibrate.terms import COMPUTING, FIRST_STEP, READING, Tables, cost_of
from vramledger.engine.vllm.deployment import Deployment
from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.simulate.priced import Typical, step_cost
from vramledger.simulate.step_cost import SHIFT, StepCost
from vramledger.simulate.timing.coefficients import Coefficients
from vramledger.simulate.timing.step import Batch, Pricer
from vramledger.simulate.timing.work import Work, work_of

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_NANO: Final = 1e9
_ALL_READ: Final = 512  # tokens by which every expert is read
_FREE: Final = 1e12  # a rate at which computing and moving tokens costs nothing
_RATES: Final = ("matmul_", "experts_", "link_share", "pcie_share")
_SPREAD: Final = 0.4  # of a price, as a share of it
_LEAST_STEP_NS: Final = 1e6  # that a step with prompts may take longer than believed
_FIRST_STEP_NS: Final = 3e8  # seen: 0.07 s with worker processes, 0.35 s without


@frozen
class Prior:
    """Prices in ns by term, in the order of `TERMS`, with their spreads."""

    prices: dict[str, float]
    spreads: dict[str, float]
    tables: Tables

    @property
    def least_deviation(self) -> float:
        """Next to nothing: runs may be reproduced exactly."""
        return 1e-3

    def cost(self, prices: Mapping[str, float]) -> StepCost:
        """The step cost at such prices."""
        return cost_of(prices, self.tables)

    def first_step_ns(self, prices: Mapping[str, float]) -> int:
        """How long after the first arrival the engine begins to work."""
        return round(prices[FIRST_STEP])

    def reaching(self, observed: Observed, prices: Mapping[str, float]) -> Observed:  # noqa: ARG002
        """The requests as they were sent: stamps of an engine leave out its front."""
        return observed


def prior_of(deployment: Deployment, coefficients: Coefficients, typical: Typical) -> Prior:
    """The prior of a deployment under a load of such contexts.

    At these prices a step costs what `priced.step_cost` says.

    Raises:
        CannotKnow: pipeline stages, or a card whose bandwidth, peak or link the catalogue lacks.
    """
    if deployment.layout.pp > 1:
        raise CannotKnow(
            f"The steps of {deployment.layout.pp} pipeline stages overlap, which is not calibrated; calibrate a layout with "
            "--pipeline-parallel-size 1."
        )
    work = work_of(deployment)
    whole = step_cost(work, coefficients, typical, deployment.max_num_seqs.value)
    tables = _tables(work, coefficients, whole)
    request, context = _ns(whole.decode_requests), _ns(whole.decode_context)
    prices = {
        READING: 1.0,
        COMPUTING: 1.0,
        "decode_requests": request,
        "decode_context": context,
        "mixed_context": 0.0,
        "prefill_step": max(_ns(whole.prefill_step), 0.0),
        "prefill_pairs": _ns(whole.prefill_pairs),
        FIRST_STEP: 0.0,
    }
    token = float(tables.computing[-1]) / work.budget
    spreads = {name: _SPREAD * price for name, price in prices.items()}
    spreads["decode_requests"] = request + token / 2
    spreads["mixed_context"] = 2 * context
    spreads["prefill_step"] = 2 * prices["prefill_step"] + _LEAST_STEP_NS
    spreads[FIRST_STEP] = _FIRST_STEP_NS
    return Prior(prices, spreads, tables)


def _ns(coefficient: int) -> float:
    return coefficient / (1 << SHIFT)


def _tables(work: Work, coefficients: Coefficients, whole: StepCost) -> Tables:
    everything = np.array(whole.by_tokens) / (1 << SHIFT) + _ns(whole.constant)
    reading = _reading(work, coefficients)
    more = max(len(everything) - len(reading), 0)
    reading = np.pad(reading, (0, more), mode="edge")[: len(everything)]
    return Tables(reading, np.maximum(everything - reading, 0.0))


def _reading(work: Work, coefficients: Coefficients) -> "Floats":
    """Nanoseconds by tokens of a step of weights, launches and the host, nothing else."""
    free = {f.name: _FREE for f in fields(Coefficients) if f.name.startswith(_RATES)}
    still = replace(coefficients, **free, hidden_passes=0.0, routed_passes=0.0, request_us=0.0)
    pricer = Pricer(work, still)
    found = [pricer.step(Batch(tokens)) for tokens in range(min(_ALL_READ, work.budget) + 1)]
    return np.array([(one.total - one.cache) * _NANO for one in found])
