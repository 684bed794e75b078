"""One row a request that two servers worked for, as its client sees it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vramledger.frozen import frozen
from vramledger.simulate.fast.records import FastOutcome
from vramledger.simulate.split.pool import Pool

if TYPE_CHECKING:
    from vramledger.simulate.fast.load import Rows

_OF_THE_PROMPT: Final = ("queued_ns", "scheduled_ns", "hit_tokens")
_OF_BOTH: Final = ("block_ns", "preemptions", "recomputed_tokens")


@frozen
class Share:
    """A server's requests and what became of them: each request is told of once."""

    pool: Pool
    places: "np.ndarray[Any, np.dtype[np.int64]]"
    found: FastOutcome


def prompt_share(places: list[int], found: FastOutcome, handed_over: Mapping[int, object]) -> Share:
    """A prefill server's: those that ended there, refused or given up, or never had their turn."""
    own = np.array([place not in handed_over for place in places], np.bool_)
    rest = FastOutcome(
        found.requests[own], found.steps, found.step_count, found.end_ns, found.stuck, found.pauses
    )
    return Share(Pool.PREFILL, np.array(places, np.int64)[own], rest)


def answer_share(places: list[int], found: FastOutcome, prompts: "Rows") -> Share:
    """A decode server's, with what became of the prompts, by place.

    When a request was queued and first scheduled, and what it found in a prefix cache, are its prompt's; blocks
    over time, preemptions and what was computed again add up.
    """
    at = np.array(places, np.int64)
    merged = found.requests.copy()
    for name in _OF_THE_PROMPT:
        merged[name] = prompts[name][at]
    for name in _OF_BOTH:
        merged[name] += prompts[name][at]
    whole = FastOutcome(
        merged, found.steps, found.step_count, found.end_ns, found.stuck, found.pauses
    )
    return Share(Pool.DECODE, at, whole)
