"""The lengths of a load's requests: an even spread around their means, or recorded ones in their order.

The spread matters in a closed loop. Requests of one length that start together end together, and their
prompts come together again, in every round; lengths that differ take them apart within a few rounds.
"""

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
    """Lengths of requests that were recorded, in their order; after the last comes the first again."""

    prompts: tuple[int, ...]
    outputs: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.prompts)

    def at(self, number: int) -> Length:
        """Of the request of that number."""
        place = number % len(self.prompts)
        return Length(self.prompts[place], self.outputs[place])

    @property
    def input_mean(self) -> float:
        """Tokens of a prompt."""
        return sum(self.prompts) / len(self)

    @property
    def output_mean(self) -> float:
        """Tokens of an answer."""
        return sum(self.outputs) / len(self)

    @property
    def decode_context(self) -> float:
        """Tokens in the cache for a request that decodes, mean over all steps: sum O (I + O/2) / sum O."""
        pairs = zip(self.prompts, self.outputs, strict=True)
        held = sum(output * (prompt + output / 2) for prompt, output in pairs)
        return held / sum(self.outputs)

    @property
    def prompt_context(self) -> float:
        """Tokens before one of a prompt, mean over all such tokens: sum I^2 / 2 / sum I."""
        return sum(prompt * prompt for prompt in self.prompts) / 2 / sum(self.prompts)


def spread_length(mean_input: float, mean_output: float, spread: float, number: int) -> Length:
    """Of the request of that number; `spread` is half the width of the spread over its mean (0..1)."""
    return Length(
        _spread(mean_input, spread, number, _SILVER), _spread(mean_output, spread, number, _GOLDEN)
    )


def _spread(mean: float, spread: float, number: int, step: float) -> int:
    """Evenly around the mean, the same in every run."""
    place = (number * step + step) % 1.0
    return max(1, round(mean * (1 + spread * (2 * place - 1))))
