"""What is believed of a host's step time before its run is looked at.

From the shipped timing model, in the form of `terms`: weights, experts, launches and the host's share
make the base; what grows with every token makes the price of a prompt token. How far each may be off
says the spread. It decides only what the run leaves open, such as how base and context share the time
of steps that all have the same context.
"""

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.calibrate.terms import BASE, FIRST_STEP
from vramledger.engine.vllm.deployment import Deployment
from vramledger.frozen import frozen
from vramledger.simulate.priced import Typical, step_cost
from vramledger.simulate.step_cost import SHIFT
from vramledger.simulate.timing.coefficients import Coefficients
from vramledger.simulate.timing.step import Batch, Pricer
from vramledger.simulate.timing.work import Work, work_of

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_NANO: Final = 1e9
_TABLE: Final = 512  # tokens by which every expert is read
_FREE: Final = 1e12  # a rate at which computing and moving tokens costs nothing
_COMPUTING: Final = ("matmul_", "experts_", "link_share", "pcie_share")
_SPREAD: Final = 0.4  # of a price, as a share of it
_LEAST_STEP_NS: Final = 1e6  # that a step with prompts may take longer than believed

_FIRST_STEP_NS: Final = 3e8  # seen: 0.07 s with worker processes, 0.35 s without


@frozen
class Prior:
    """Prices in ns by term, in the order of `TERMS`, with their spreads, and the base's table in ns."""

    prices: dict[str, float]
    spreads: dict[str, float]
    table: "Floats"


def prior_of(deployment: Deployment, coefficients: Coefficients, typical: Typical) -> Prior:
    """The prior of a deployment under a load of such contexts.

    Raises:
        CannotKnow: pipeline stages, whose steps overlap.
    """
    work = work_of(deployment)
    whole = step_cost(work, coefficients, typical, deployment.max_num_seqs.value)
    reading = _reading_table(work, coefficients)
    token, request = _token_ns(work, coefficients, reading[-1])
    context = _ns(whole.decode_context)
    prices = {
        BASE: 1.0,
        "prefill_tokens": token,
        "decode_requests": request + _ns(whole.decode_requests),
        "decode_context": context,
        "mixed_context": context / 4,
        "prefill_step": max(_ns(whole.prefill_step), 0.0),
        "prefill_pairs": _ns(whole.prefill_pairs),
        FIRST_STEP: 0.0,
    }
    spreads = {name: _SPREAD * price for name, price in prices.items()}
    spreads["decode_requests"] = max(token / 2, prices["decode_requests"])
    spreads["mixed_context"] = 2 * context
    spreads["prefill_step"] = 2 * prices["prefill_step"] + _LEAST_STEP_NS
    spreads[FIRST_STEP] = _FIRST_STEP_NS
    return Prior(prices, spreads, reading)


def _ns(coefficient: int) -> float:
    return coefficient / (1 << SHIFT)


def _reading_table(work: Work, coefficients: Coefficients) -> "Floats":
    """Nanoseconds by tokens of a step for weights, launches and the host, nothing else."""
    free = {
        field.name: _FREE for field in fields(Coefficients) if field.name.startswith(_COMPUTING)
    }
    still = replace(coefficients, **free, hidden_passes=0.0, routed_passes=0.0, request_us=0.0)
    pricer = Pricer(work, still)
    sizes = range(min(_TABLE, work.budget) + 1)
    found = [pricer.step(Batch(tokens)) for tokens in sizes]
    return np.array([(one.total - one.cache) * _NANO for one in found])


def _token_ns(work: Work, coefficients: Coefficients, reading_ns: float) -> tuple[float, float]:
    """Nanoseconds of a prompt token in a full step, and the least that any token takes."""
    pricer = Pricer(work, coefficients)
    budget = work.budget
    full = pricer.step(Batch(0, prompt_tokens=budget, prompts=1))
    spent = full.total - full.prompt_attention - coefficients.prefill_step_us * 1e-6
    moved = full.activations + full.links - pricer.step(Batch(0)).links
    return max(spent * _NANO - reading_ns, 0.0) / budget, moved * _NANO / budget
