"""How far a compiled engine may go, and what it tells about how far it is; both engines' states have it.

An engine's loop is a machine of three phases, as `engine_loop.EngineLoop` has them, so that it can halt
between any two and go on as if it had not.
"""

from typing import Final

import numpy as np

FOREVER: Final = (1 << 63) - 1
TURN, WAITING, SITTING = range(3)  # phases, as `engine_loop.Phase`

ADVANCING: Final = [
    ("phase", np.int64),
    ("until", np.int64),  # no turn begins at this time or later, no step that ends later is awaited
    ("more", np.bool_),  # whether requests may come that are not known yet
    ("stops", np.bool_),  # whether to halt when a request ends
    ("ended", np.int64),  # requests that are over
    ("prompts", np.int64),  # prompt tokens of those that wait or run
    ("events", np.int64),  # arrivals, tokens and ends so far
    ("events_then", np.int64),  # when the engine began to sit out
    ("stuck", np.bool_),
    ("pauses", np.int64),  # kept so far
    ("came_before", np.int64),  # the step that came back before the one that comes back now
]
