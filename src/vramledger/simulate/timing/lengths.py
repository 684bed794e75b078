"""The lengths of a load's requests: an even spread around their means, or recorded ones in their order.

The spread matters in a closed loop. Requests of one length that start together end together, and their
prompts come together again, in every round; lengths that differ take them apart within a few rounds.
"""

from collections.abc import Sequence
from typing import Final

from vramledger.frozen import frozen

# Lengths between 0.8 and 1.0 of a nominal one, as benchmarks draw them, lie within a ninth of their mean.
USUAL_SPREAD: Final = 1 / 9
_GOLDEN: Final = 0.6180339887498949
_SILVER: Final = 0.4142135623730951


@frozen
class Length:
    """Tokens of one request, 1 or more each."""

    prompt: int
    output: int


@frozen
class Recorded:
    """Lengths of requests that were recorded, in their order; after the last comes the first again.

    The means over time are of requests that run: a long answer counts for the steps that it takes.
    """

    prompts: tuple[int, ...]
    outputs: tuple[int, ...]
    decode_context: float  # tokens in the cache for one that decodes: sum O (I + O/2) / sum O
    whole: float  # tokens of one at its end: sum O (I + O) / sum O
    prompt_context: float  # tokens before one of a prompt, mean over all these: sum I^2 / 2 / sum I

    def __len__(self) -> int:
        return len(self.prompts)

    @property
    def input_mean(self) -> float:
        """Tokens of a prompt."""
        return sum(self.prompts) / len(self)

    @property
    def output_mean(self) -> float:
        """Tokens of an answer."""
        return sum(self.outputs) / len(self)

    @property
    def alike(self) -> bool:
        """Whether all have the same lengths."""
        return len(set(self.prompts)) == len(set(self.outputs)) == 1

    def at(self, number: int) -> Length:
        """Of the request of that number."""
        place = number % len(self.prompts)
        return Length(self.prompts[place], self.outputs[place])


def recorded(prompts: Sequence[int], outputs: Sequence[int]) -> Recorded:
    """The lengths of requests, of one at least; every length is 1 or more."""
    steps = sum(outputs)
    prompt_steps = sum(i * o for i, o in zip(prompts, outputs, strict=True))
    squares = sum(output * output for output in outputs)
    return Recorded(
        tuple(prompts),
        tuple(outputs),
        decode_context=(prompt_steps + squares / 2) / steps,
        whole=(prompt_steps + squares) / steps,
        prompt_context=sum(prompt * prompt for prompt in prompts) / 2 / sum(prompts),
    )


def spread_length(mean_input: float, mean_output: float, spread: float, number: int) -> Length:
    """Of the request of that number; `spread` is half the width of the spread over its mean (0..1)."""
    return Length(
        _spread(mean_input, spread, number, _SILVER), _spread(mean_output, spread, number, _GOLDEN)
    )


def _spread(mean: float, spread: float, number: int, step: float) -> int:
    """Evenly around the mean, the same in every run."""
    place = (number * step + step) % 1.0
    return max(1, round(mean * (1 + spread * (2 * place - 1))))
