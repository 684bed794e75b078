"""What to know before a simulation that takes long: how many requests, and how many steps at least."""

from collections.abc import Callable
from typing import Final, TypeAlias

Announce: TypeAlias = Callable[[str], None]  # takes one finished sentence

_MANY_REQUESTS: Final = 1_000_000
_MANY_STEPS: Final = 10_000_000
_SMALL_BUDGET: Final = 64  # tokens a step; prompts take hundreds


def long_play(requests: int, tokens: int, budget: int) -> str:
    """A few sentences, empty where it is soon over; `tokens` are of all prompts, `budget` is of a step.

    The steps of all engines together are at least the prompt tokens over the budget, without prefix hits.
    """
    steps = tokens // max(budget, 1)
    if requests < _MANY_REQUESTS and steps < _MANY_STEPS:
        return ""
    said = (
        f"{requests:,} requests with {tokens:,} prompt tokens are simulated, which fill {steps:,} steps; "
        "this can take many minutes, and the slow end of the step times is played after it. A part of the workload (vram workload "
        "head or slice) or a lower --rate-scale takes less."
    )
    return f"{said} {small_budget(budget)}".strip()


def small_budget(budget: int) -> str:
    """A sentence where a step takes hardly any tokens, else empty."""
    if budget >= _SMALL_BUDGET:
        return ""
    tokens = "1 token" if budget == 1 else f"{budget} tokens"
    return (
        f"--max-num-batched-tokens lets a step take {tokens} only, so that a prompt of 1,000 tokens needs "
        f"{-(-1000 // max(budget, 1)):,} steps; vLLM's own default is 2,048 or more."
    )
