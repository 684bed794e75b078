"""Pauses between tokens of a request, written down as they end; both engines' worlds have room for some."""

from typing import Any, Final

import numpy as np

from vramledger.simulate.fast.compiled import compiled
from vramledger.simulate.fast.records import PAUSE

_KEPT: Final = 1 << 12  # pauses kept before they are handed out


def room_for_pauses(max_num_seqs: int) -> Any:
    """Rows for pauses: a step that comes back adds at most one for each request that runs."""
    return np.zeros(_KEPT + max_num_seqs, PAUSE)


@compiled
def has_room(pauses: Any, state: Any) -> bool:
    """Whether a step may come back before pauses are handed out."""
    return bool(state.pauses + state.max_num_seqs <= len(pauses))


@compiled
def note_event(pauses: Any, state: Any, rank: int, last_step: int, step: int) -> None:
    """A step brings a request tokens, and one before did; it pauses unless they came back in turn."""
    if last_step == state.came_before or state.pauses == len(pauses):
        return
    row = pauses[state.pauses]
    row.rank, row.last_step, row.next_step = rank, last_step, step
    state.pauses += 1
