"""The fewest replicas of a candidate that pass in the simulation, where those that memory asks for do not."""

from collections.abc import Callable
from dataclasses import replace
from math import ceil
from typing import Final

from vramledger.sizing.candidate import Candidate

_MOST_TIMES: Final = (
    8  # as many as memory asks for; what more do not mend is not the number of servers
)
_MOST: Final = 1_024


def with_replicas(candidate: Candidate, replicas: int) -> Candidate:
    """The candidate with more replicas; its price, its servers and what idles follow."""
    link, price, world = candidate.link, candidate.price_per_hour, candidate.layout.world
    idle = candidate.idle_share
    many = f"{candidate.replicas} replica{'s' if candidate.replicas > 1 else ''}"
    return replace(
        candidate,
        replicas=replicas,
        gpus_low=max(candidate.gpus_low, world * replicas),
        gpus_high=max(candidate.gpus_high, world * replicas),
        servers=0 if link is None else ceil(replicas * world / link.gpus_a_server),
        price_per_hour=None if price is None else price / candidate.replicas * replicas,
        idle_share=None if idle is None else 1.0 - (1.0 - idle) * candidate.replicas / replicas,
        reason=f"Memory needs {many}, the speed that is asked for {replicas} (simulated).",
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
