"""A run of any length: its beginning is played, and it goes on as it went on last."""

from dataclasses import replace
from math import inf
from typing import Final

from vramledger.simulate.timing.capacity import Capacity
from vramledger.simulate.timing.closed_loop import Load
from vramledger.simulate.timing.replay import Played, Replay
from vramledger.simulate.timing.step import Pricer

_MOST_PLAYED: Final = 10_000  # requests, or so many rounds of those in flight
_ROUNDS: Final = 10


def play(pricer: Pricer, load: Load, capacity: Capacity, delay: float) -> Played:
    """The means of a run.

    Of a longer one than is played, the sums grow by what the second half of the played part added:
    opening burst and last answers are in both halves' runs and are counted once.
    """
    most = max(_MOST_PLAYED, _ROUNDS * round(load.concurrency))
    if load.requests == inf or load.requests <= most:
        return Replay(pricer, load, capacity, delay).play()
    half, whole = (
        Replay(pricer, replace(load, requests=part), capacity, delay).play()
        for part in (most // 2, most)
    )
    return _continued(half, whole, most, load.requests)


def _continued(half: Played, whole: Played, played: int, requests: float) -> Played:
    """Sums over requests and over seconds, drawn on along the line through two lengths of run."""
    first = played // 2
    further = (requests - played) / (played - first)

    def drawn_on(sum_half: float, sum_whole: float) -> float:
        return sum_whole + further * (sum_whole - sum_half)

    def of_requests(a: float, b: float) -> float:
        return drawn_on(a * first, b * played) / requests

    seconds = drawn_on(half.seconds, whole.seconds)

    def of_time(a: float, b: float) -> float:
        return drawn_on(a * half.seconds, b * whole.seconds) / seconds

    return Played(
        ttft=of_requests(half.ttft, whole.ttft),
        tpot=of_requests(half.tpot, whole.tpot),
        running=of_time(half.running, whole.running),
        waiting=of_time(half.waiting, whole.waiting),
        preemptions=round(drawn_on(half.preemptions, whole.preemptions)),
        seconds=seconds,
        tokens=round(drawn_on(half.tokens, whole.tokens)),
    )
