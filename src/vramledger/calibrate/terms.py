"""The terms of a step's time that a host can be asked for, and the step cost they make.

The form reproduces measured runs of vLLM to one or two percent: reading the weights, what grows with
the tokens of a step, decodes and their context, and what prompts add. The first two follow the shapes
that the shipped model gives them; a run decides how much of each there is.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen
from vramledger.simulate.step_cost import SHIFT, StepCost, fixed

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

READING: Final = "reading"
COMPUTING: Final = "computing"
FIRST_STEP: Final = "first_step"


@frozen
class Term:
    """A price in ns counts `scale` of `unit`; that of a table is a factor on it."""

    name: str
    unit: str
    scale: float


# The first two are factors on tables, the last no part of a step; the others are named as the
# coefficients of `StepCost` are.
TERMS: Final = (
    Term(READING, "", 1.0),
    Term(COMPUTING, "", 1.0),
    Term("decode_requests", "us a request", 1e-3),
    Term("decode_context", "ns a token", 1.0),
    Term("mixed_context", "ns a token", 1.0),
    Term("prefill_step", "ms a step", 1e-6),
    Term("prefill_pairs", "ns a pair", 1.0),
    Term(FIRST_STEP, "ms", 1e-6),
)
_PLAIN: Final = tuple(term.name for term in TERMS[2:-1])


@frozen
class Tables:
    """Nanoseconds of a step by its tokens, from 0 to the budget, as the shipped model has them.

    `reading` is what a step takes however few operations it does: weights, experts reached, launches,
    the host. `computing` is what operations, activations and links add to that.
    """

    reading: "Floats"
    computing: "Floats"


def cost_of(prices: Mapping[str, float], tables: Tables) -> StepCost:
    """The step cost at such prices, in ns by term."""
    by_tokens = prices[READING] * tables.reading + prices[COMPUTING] * tables.computing
    entries = np.rint(by_tokens * (1 << SHIFT)).astype(np.int64)
    plain = {name: fixed(prices[name]) for name in _PLAIN}
    return StepCost(by_tokens=tuple(entries.tolist()), **plain)
