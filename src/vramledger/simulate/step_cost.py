"""What a step costs: a fixed-point integer polynomial of its features, so that sums are exact.

One formula for the plain loop and the compiled one. Coefficients are whole multiples of 2^-20
nanoseconds; the sum is floored once, to whole nanoseconds. What is no polynomial (experts reached by so
many tokens, the larger of memory and compute time) goes into a table by scheduled tokens.
"""

from collections.abc import Sequence
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.simulate.settings import Settings
from vramledger.simulate.step import Features

SHIFT: Final = 20
_LIMIT: Final = 1 << 62


@frozen
class StepCost:
    """Nanoseconds of a step; call it with the step's features.

    Every coefficient counts 2^-`SHIFT` ns per unit of the feature it is named after; `fixed` makes
    one of nanoseconds. In steps that prefill, `mixed_context` is added to `decode_context`, and
    `prefill_step` to the constant.
    `by_tokens` is indexed by scheduled tokens, and its last entry stands for all beyond.
    """

    constant: int = 0
    prefill_tokens: int = 0
    prefill_requests: int = 0
    prefill_pairs: int = 0
    decode_tokens: int = 0
    decode_requests: int = 0
    decode_context: int = 0
    mixed_context: int = 0
    prefill_step: int = 0
    by_tokens: tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        if not self.by_tokens:
            raise BadInput(
                "The table of step costs by tokens is empty; give at least one entry, 0 for none."
            )

    @property
    def coefficients(self) -> tuple[int, ...]:
        """The coefficients in the order in which `step_ns` takes them."""
        return (
            self.constant,
            self.prefill_tokens,
            self.prefill_requests,
            self.prefill_pairs,
            self.decode_tokens,
            self.decode_requests,
            self.decode_context,
            self.mixed_context,
            self.prefill_step,
        )

    def __call__(self, features: Features) -> int:
        """Nanoseconds, at least 0."""
        return step_ns(
            self.coefficients,
            self.by_tokens,
            features.prefill_tokens,
            features.prefill_requests,
            features.prefill_pairs,
            features.decode_tokens,
            features.decode_requests,
            features.decode_context,
        )

    def refuse_overflow(self, settings: Settings) -> None:
        """Raises `BadInput` when a step of this engine could cost more than 64 bits hold."""
        budget, seqs, length = settings.token_budget, settings.max_num_seqs, settings.max_model_len
        pairs, context = budget * length, seqs * length
        most = (1, budget, seqs, pairs, budget, seqs, context, context, 1)
        terms = zip(self.coefficients, most, strict=True)
        largest = sum(abs(one) * units for one, units in terms)
        if largest + max(abs(one) for one in self.by_tokens) >= _LIMIT:
            raise BadInput(
                f"A step of up to {budget} tokens and {context} tokens of context could cost more nanoseconds than 64 bits hold; give smaller costs."
            )


def fixed(nanoseconds: float) -> int:
    """A coefficient in fixed point."""
    return round(nanoseconds * (1 << SHIFT))


def step_ns(
    coefficients: Sequence[int],
    by_tokens: Sequence[int],
    prefill_tokens: int,
    prefill_requests: int,
    prefill_pairs: int,
    decode_tokens: int,
    decode_requests: int,
    decode_context: int,
) -> int:
    """The formula itself; whole numbers only, so it means the same compiled to 64 bits."""
    total = (
        coefficients[0]
        + coefficients[1] * prefill_tokens
        + coefficients[2] * prefill_requests
        + coefficients[3] * prefill_pairs
        + coefficients[4] * decode_tokens
        + coefficients[5] * decode_requests
        + coefficients[6] * decode_context
        + by_tokens[min(prefill_tokens + decode_tokens, len(by_tokens) - 1)]
    )
    if prefill_tokens > 0:
        total += coefficients[7] * decode_context + coefficients[8]
    return max(total >> 20, 0)
