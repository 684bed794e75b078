"""The times of a run that prices must explain, and how a replay's times follow the prices.

Of every request stamped by some moment: from its arrival to its first token, from that to its last, and
from its arrival to its last. Under load the first is a sum over many steps of others, otherwise it is
little more than its own.
"""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.calibrate.believed import Believed
from vramledger.calibrate.observed import ABSENT, Observed
from vramledger.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
    Truths: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

_OF_SPREAD: Final = 2.0  # a price moves by a share of itself or twice that of its spread, if more


@frozen
class Stamped:
    """The requests of a run that had their first and their last token by a moment."""

    first: "Truths"
    last: "Truths"

    def stretches(self, run: Observed) -> "Floats":
        """Their times in ns by the stamps of `run`, measured or replayed, in one row."""
        begun = (run.first_token_ns - run.arrival_ns)[self.first]
        made = (run.last_token_ns - run.first_token_ns)[self.last]
        whole = (run.last_token_ns - run.arrival_ns)[self.last]
        return np.concatenate([begun, made, whole]).astype(np.float64)


def stamped_by(observed: Observed, moment_ns: int) -> Stamped:
    """The requests that had tokens by then."""
    first, last = observed.first_token_ns, observed.last_token_ns
    return Stamped((first != ABSENT) & (first <= moment_ns), (last != ABSENT) & (last <= moment_ns))


def sensitivities(
    replayed: "Callable[[Floats], Floats]",
    prices: "Floats",
    here: "Floats",
    prior: Believed,
    share: float,
) -> "Floats":
    """``[stretches, terms]``: how much longer each stretch of a replay is for each ns of a price.

    By replays with one price moved by a share of it. Small moves tell mostly which requests change
    places; what they tell apart from that is too little to solve with.
    """
    columns = []
    for place, spread in enumerate(prior.spreads.values()):
        move = share * max(float(prices[place]), _OF_SPREAD * spread)
        moved = prices.copy()
        moved[place] += move
        columns.append((replayed(moved) - here) / move)
    return np.stack(columns, axis=1)
