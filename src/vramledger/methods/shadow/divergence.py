"""How far two distributions of the next token lie apart, of which only the likeliest tokens are known.

Tokens that both sides list are compared one by one; all others of either side are lumped into one. Lumping never makes a
divergence larger (data processing: Cover and Thomas, Elements of Information Theory, 2nd ed., 2.8), so the lumped Kullback-Leibler
and Jensen-Shannon divergences are lower bounds, equal to the true ones where both tails have one shape. Jensen-Shannon
is also bounded above: at worst the tails share no token, and each contributes half its mass times ln 2. Kullback-Leibler has no
such bound: one token that B holds impossible makes it infinite.
"""

from collections.abc import Mapping
from math import exp, log
from typing import Final, TypeVar

from vramledger.frozen import frozen

_LEAST: Final = 1e-6  # mass of a tail: servers round log probabilities to 32 bits
_LN2: Final = log(2)
T = TypeVar("T")


@frozen
class Apart:
    """In nats. `unlisted` is the mass of A outside the tokens that both list, 0..1."""

    kl_low: float
    js_low: float
    js_high: float
    unlisted: float


def apart(a: Mapping[T, float], b: Mapping[T, float]) -> Apart:
    """Between two lists of log probabilities by token, neither of them empty; KL is of A from B."""
    both = [(exp(a[token]), exp(b[token])) for token in a.keys() & b.keys()]
    unlisted = max(0.0, 1.0 - sum(p for p, _ in both))
    rest_a = max(_LEAST, unlisted)
    rest_b = max(_LEAST, 1.0 - sum(q for _, q in both))
    lumped = [*both, (rest_a, rest_b)]
    kl = sum(_kl_term(p, q) for p, q in lumped)
    js_both = sum(_js_term(p, q) for p, q in both)
    return Apart(
        max(0.0, kl),
        max(0.0, js_both + _js_term(rest_a, rest_b)),
        min(_LN2, js_both + (rest_a + rest_b) / 2 * _LN2),
        unlisted,
    )


def _kl_term(p: float, q: float) -> float:
    return p * log(p / max(q, 1e-300)) if p > 0 else 0.0


def _js_term(p: float, q: float) -> float:
    middle = (p + q) / 2
    return (_kl_term(p, middle) + _kl_term(q, middle)) / 2
