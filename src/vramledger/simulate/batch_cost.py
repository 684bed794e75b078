"""What the steps of a static batch cost: the step cost, carried on beyond its table."""

from typing import TYPE_CHECKING, Final

import numpy as np

from vramledger.simulate.step import Features
from vramledger.simulate.step_cost import SHIFT, StepCost

if TYPE_CHECKING:
    from vramledger.simulate.fast.load import Integers, Rows

_SLOPE_OVER: Final = 64  # the last entries of the cost table, whose rise goes on beyond it


def extended(cost: StepCost) -> StepCost:
    """The same cost up to the table's end, and the same rise beyond, where batches are larger than it."""
    last = len(cost.by_tokens) - 1
    over = min(_SLOPE_OVER, last)
    rise = (cost.by_tokens[last] - cost.by_tokens[last - over]) // over if over else 0
    return StepCost(
        constant=cost.constant,
        prefill_tokens=cost.prefill_tokens + rise,
        prefill_requests=cost.prefill_requests,
        prefill_pairs=cost.prefill_pairs,
        decode_tokens=cost.decode_tokens + rise,
        decode_requests=cost.decode_requests,
        decode_context=cost.decode_context,
        mixed_context=cost.mixed_context,
        prefill_step=cost.prefill_step,
        by_tokens=tuple(entry - rise * tokens for tokens, entry in enumerate(cost.by_tokens)),
    )


class BatchCost:
    """Nanoseconds of the steps of batches, which may have more tokens than the table has."""

    def __init__(self, cost: StepCost) -> None:
        self._cost = extended(cost)
        self._by_tokens = np.array(self._cost.by_tokens, np.int64)

    def lasts(self, rows: "Rows") -> "Integers":
        """Nanoseconds of each step: the formula of `step_cost` over arrays, the prefill by itself."""
        cost, first = self._cost, rows[0]
        tokens = np.minimum(rows["decode_tokens"], len(self._by_tokens) - 1)
        total = (
            cost.constant
            + cost.decode_tokens * rows["decode_tokens"]
            + cost.decode_requests * rows["decode_requests"]
            + cost.decode_context * rows["decode_context"]
            + self._by_tokens[tokens]
        )
        lasts: Integers = np.maximum(total >> SHIFT, 0)
        lasts[0] = cost(
            Features(
                int(first["prefill_tokens"]),
                int(first["prefill_requests"]),
                int(first["prefill_pairs"]),
            )
        )
        return lasts
