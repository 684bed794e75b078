"""The fewest replicas of a candidate that pass in the simulation, where those that memory asks for do not."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from math import ceil
from typing import Final

from vramledger.frozen import frozen
from vramledger.sizing.candidate import Candidate, Margin

_MOST_TIMES: Final = (
    8  # as many as memory asks for; what more do not mend is not the number of servers
)
_MOST: Final = 1_024


@frozen
class AsExpected:
    """Replicas that pass at the expected step times; `exact` where one less was played and fails."""

    replicas: int
    exact: bool


def as_expected(played: Iterable[Candidate], least: int) -> AsExpected | None:
    """The fewest of those played that pass as expected; None where none does.

    `least` is what memory asks for, below which nothing is played.
    """
    fails = {one.replicas: one.surely_fails for one in played if one.played}
    passing = min((replicas for replicas, failing in fails.items() if not failing), default=None)
    if passing is None:
        return None
    return AsExpected(passing, passing == least or fails.get(passing - 1, False))


def with_slow_end(candidate: Candidate, own: int, expected: AsExpected) -> Candidate:
    """The candidate with the replicas that its slow end costs, beside the `own` that memory asks for."""
    saved = (candidate.replicas - expected.replicas) * candidate.layout.world
    if saved == 0:
        return candidate
    bound = "" if expected.exact else "at most "
    counts = f"{bound}{expected.replicas} as expected, {candidate.replicas} at the slow end"
    least = "" if expected.exact else ", at least"
    margin = Margin(f"slow end of the step times (simulated{least})", 0, saved)
    return replace(
        candidate,
        reason=f"Memory needs {_many(own)}, the speed that is asked for {candidate.replicas} "
        f"(simulated: {counts} of the step times).",
        margins=(*candidate.margins, margin),
    )


def _many(replicas: int) -> str:
    return f"{replicas} replica{'s' if replicas > 1 else ''}"


def with_replicas(candidate: Candidate, replicas: int) -> Candidate:
    """The candidate with more replicas than memory asks for; its price, its servers and what idles follow.

    No margin of memory costs a GPU then: speed decides their number.
    """
    link, price, world = candidate.link, candidate.price_per_hour, candidate.layout.world
    idle = candidate.idle_share
    return replace(
        candidate,
        replicas=replicas,
        gpus_low=max(candidate.gpus_low, world * replicas),
        gpus_high=max(candidate.gpus_high, world * replicas),
        servers=0 if link is None else ceil(replicas * world / link.gpus_a_server),
        price_per_hour=None if price is None else price / candidate.replicas * replicas,
        idle_share=None if idle is None else 1.0 - (1.0 - idle) * candidate.replicas / replicas,
        margins=tuple(replace(margin, gpus=0) for margin in candidate.margins),
        reason=f"Memory needs {_many(candidate.replicas)}, the speed that is asked for {replicas} "
        "(simulated).",
    )


def fewest(
    candidate: Candidate, passes: Callable[[Candidate], bool], most: int | None = None
) -> Candidate | None:
    """The fewest replicas that pass, given that the candidate's own do not; None where none up to `most` do.

    More are taken to serve no worse; each number is tried at most once.
    """
    failing, passing = candidate.replicas, None
    limit = min(candidate.replicas * _MOST_TIMES, _MOST if most is None else most)
    while passing is None and failing < limit:
        more = min(failing * 2, limit)
        if passes(with_replicas(candidate, more)):
            passing = more
        else:
            failing = more
    while passing is not None and passing - failing > 1:
        middle = (failing + passing) // 2
        if passes(with_replicas(candidate, middle)):
            passing = middle
        else:
            failing = middle
    return None if passing is None else with_replicas(candidate, passing)
