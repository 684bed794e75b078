"""The formula of `step_cost`, compiled."""

from collections.abc import Sequence
from typing import Any

from vramledger.simulate.fast.compiled import compiled
from vramledger.simulate.step_cost import step_ns

_step_ns = compiled(step_ns)


@compiled
def decodes_ns(coefficients: Sequence[int], by_tokens: Any, requests: int, context: int) -> int:
    """Nanoseconds of a step in which requests only decode a token each."""
    return _step_ns(coefficients, by_tokens, 0, 0, 0, requests, requests, context)


@compiled
def cost_ns(coefficients: Sequence[int], by_tokens: Any, features: Any) -> int:
    """Nanoseconds of the step whose features a state holds."""
    return _step_ns(
        coefficients,
        by_tokens,
        features.prefill_tokens,
        features.prefill_requests,
        features.prefill_pairs,
        features.decode_tokens,
        features.decode_requests,
        features.decode_context,
    )
