"""How far the clock of another machine is ahead, by round trips, and by how much that may be off.

A question leaves at t0, the other reads its clock, the answer is here at t1. Whenever in between it was read, the clock is ahead by
``read - (t0 + t1) / 2``, give or take ``(t1 - t0) / 2``; the shortest of many round trips says it best (D. L. Mills, "Internet
time synchronization: the Network Time Protocol", IEEE Transactions on Communications 39, 1991, 1482-1493, section V). Clocks
drift apart; measured before and after, an offset is off by as much as it changed besides.
"""

from collections.abc import Callable

from vramledger.frozen import frozen

ROUNDS = 40


@frozen
class Offset:
    """The other clock less ours, in nanoseconds; it lies within `error_ns` of that, either way."""

    ahead_ns: int
    error_ns: int

    def drifted(self, later: "Offset") -> int:
        """By how much a moment in between may be off where this one was taken for all: both errors and what it changed."""
        return max(self.error_ns, later.error_ns) + abs(later.ahead_ns - self.ahead_ns)


def measured(there: Callable[[], int], here: Callable[[], int], rounds: int = ROUNDS) -> Offset:
    """Of the shortest of some round trips; both are clocks in nanoseconds that never go back."""
    best: Offset | None = None
    for _ in range(rounds):
        began = here()
        read = there()
        ended = here()
        found = Offset(read - (began + ended) // 2, (ended - began + 1) // 2)
        if best is None or found.error_ns < best.error_ns:
            best = found
    if best is None:
        raise ValueError("no round trip")
    return best
