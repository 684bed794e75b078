"""Which requests of a played loop its means are taken of."""

from math import inf
from typing import Final

from vramledger.frozen import frozen
from vramledger.simulate.timing.closed_loop import Load

_SETTLING: Final = 5  # rounds of those in flight until nothing is left of the start
_ROUNDS: Final = 5  # that a steady state is the mean of
_FEWEST: Final = 64
_MOST: Final = 10_000  # requests, or `_ROUNDS` of those in flight


@frozen
class Counted:
    """Requests by their numbers: from `first` on, `count` of them."""

    first: int
    count: int


def counted(load: Load, concurrency: int) -> Counted:
    """All of a run that ends; of a steady state some rounds after the first, or recorded requests once each."""
    if load.requests < inf:
        return Counted(0, max(round(load.requests), concurrency))
    rounds = _ROUNDS * concurrency
    whole = 0 if load.recorded is None else len(load.recorded)
    count = min(max(rounds, _FEWEST, whole), max(_MOST, rounds))
    return Counted(_SETTLING * concurrency, count)
