"""Steps by their place in the table of steps."""

import numpy as np

from vramledger.simulate.fast.records import UNSET, FastOutcome


def numbered(found: FastOutcome) -> FastOutcome:
    """The same with steps numbered by their place: a scheduler also counts steps that run nothing."""
    numbers = found.steps["number"].copy()
    for name in ("scheduled_step", "first_token_step", "last_token_step"):
        told = found.requests[name] != UNSET
        found.requests[name][told] = np.searchsorted(numbers, found.requests[name][told])
    if found.pauses is not None:
        for name in ("last_step", "next_step"):
            found.pauses[name] = np.searchsorted(numbers, found.pauses[name])
    found.steps["number"] = np.arange(len(numbers))
    return found
