"""The terms of a step's time that a host can be asked for, and the step cost they make.

After the form that reproduces measured runs of vLLM to one or two percent: a base that reads the
weights, prices for prompt tokens, decodes and their context, and what steps of both kinds add. A term
has a feature of a step, and the time of a step is the sum of price times feature.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen
from vramledger.simulate.step_cost import StepCost, fixed

if TYPE_CHECKING:
    Rows: TypeAlias = np.ndarray[Any, np.dtype[np.void]]
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

BASE: Final = "base"
FIRST_STEP: Final = "first_step"
_NO_PLAIN: Final = (BASE, FIRST_STEP)


@frozen
class Term:
    """`feature` makes floats of `STEP` rows; the price is in `unit`, `scale` of which are a nanosecond.

    The base is dimensionless: a factor on the prior's table of the time that a step of so many tokens
    takes to read its weights and to be launched. The first step's price is how much later than its
    request it begins, while the process does what it does once; it is no part of a step's cost.
    """

    name: str
    unit: str
    scale: float
    feature: "Callable[[Rows, Floats], Floats]"  # of the rows, and the table


def _base(rows: "Rows", table: "Floats") -> "Floats":
    tokens = rows["prefill_tokens"] + rows["decode_tokens"]
    found: Floats = table[np.minimum(tokens, len(table) - 1)]
    return found


def _count(name: str) -> "Callable[[Rows, Floats], Floats]":
    return lambda rows, _table: rows[name].astype(np.float64)


def _mixed(rows: "Rows", _table: "Floats") -> "Floats":
    found: Floats = rows["decode_context"] * (rows["prefill_tokens"] > 0).astype(np.float64)
    return found


def _prefills(rows: "Rows", _table: "Floats") -> "Floats":
    return (rows["prefill_tokens"] > 0).astype(np.float64)


def _first(rows: "Rows", _table: "Floats") -> "Floats":
    found = np.zeros(len(rows))
    found[:1] = 1
    return found


# Named as the coefficients of `StepCost` are.
TERMS: Final = (
    Term(BASE, "", 1.0, _base),
    Term("prefill_tokens", "us a token", 1e-3, _count("prefill_tokens")),
    Term("decode_requests", "us a request", 1e-3, _count("decode_requests")),
    Term("decode_context", "ns a token", 1.0, _count("decode_context")),
    Term("mixed_context", "ns a token", 1.0, _mixed),
    Term("prefill_step", "ms a step", 1e-6, _prefills),
    Term("prefill_pairs", "ps a pair", 1e3, _count("prefill_pairs")),
    Term(FIRST_STEP, "ms", 1e-6, _first),
)


def features_of(rows: "Rows", table: "Floats") -> "Floats":
    """``[steps, terms]``, so that the product with prices in ns is the time of each step in ns."""
    return np.stack([term.feature(rows, table) for term in TERMS], axis=1)


def cost_of(prices: Mapping[str, float], table: "Floats") -> StepCost:
    """The step cost at such prices, in ns by term."""
    plain = {name: fixed(price) for name, price in prices.items() if name not in _NO_PLAIN}
    factor = prices[BASE]
    return StepCost(by_tokens=tuple(fixed(factor * float(entry)) for entry in table), **plain)
