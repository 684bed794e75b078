"""A part of a workload for candidates that only the plain loop can play, which takes minutes for what the compiled one does at once."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen
from vramledger.simulate.offered import Offered
from vramledger.sizing.candidate import Candidate

if TYPE_CHECKING:
    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

MOST: Final = 2_000  # requests; a p99 rests on twenty of them, and ten seconds play them
_COLUMNS: Final = (
    "row",
    "input_tokens",
    "output_tokens",
    "session",
    "tenant",
    "cancel_after_ns",
)


@frozen
class Bounded:
    """The requests that are played, and which those are, in words."""

    offered: Offered
    said: str


def needs_bounds(candidate: Candidate) -> bool:
    """Whether only the plain loop follows the candidate: that of pipeline stages."""
    return candidate.layout.pp > 1


def bounded(offered: Offered, *, closed: bool, most: int = MOST) -> Bounded | None:
    """The busiest requests in a row, or in a closed loop the first; None where there are few enough.

    The busiest are those of the shortest time between the first and the last of them; times count from the first.
    """
    if len(offered) <= most:
        return None
    begin = 0 if closed else _busiest(offered.due_ns, most)
    which = "first" if closed else "busiest"
    said = f"the {which} {most:,} of its {len(offered):,} requests in a row"
    return Bounded(_cut(offered, begin, begin + most), said)


def _busiest(due_ns: "Array", most: int) -> int:
    return int(np.argmin(due_ns[most - 1 :] - due_ns[: len(due_ns) - most + 1]))


def _cut(offered: Offered, begin: int, end: int) -> Offered:
    """Requests `begin` to `end`, the latter left out."""
    ends = offered.prefix_ends
    before = int(ends[begin - 1]) if begin else 0
    return replace(
        offered,
        **{name: getattr(offered, name)[begin:end] for name in _COLUMNS},
        due_ns=offered.due_ns[begin:end] - offered.due_ns[begin],
        prefix=offered.prefix[before : int(ends[end - 1])],
        prefix_ends=ends[begin:end] - before,
        times_out=None if offered.times_out is None else offered.times_out[begin:end],
    )
