"""A run of the plain loop as rows of numbers, in the compiled one's form."""

import numpy as np

from vramledger.simulate.fast.records import (
    ENDINGS,
    FEATURES,
    PAUSE,
    RECORD,
    STEP,
    UNSET,
    FastOutcome,
)
from vramledger.simulate.outcome import Outcome


def columns_of(outcome: Outcome) -> FastOutcome:
    """A run of the plain loop as rows of numbers."""
    requests = np.zeros(len(outcome.requests), RECORD)
    for name in RECORD.names or ():
        if name == "ending":
            values = [ENDINGS.index(one.ending) for one in outcome.requests]
        else:
            values = [_number(getattr(one, name)) for one in outcome.requests]
        requests[name] = values
    steps = np.zeros(len(outcome.steps), STEP)
    for name in STEP.names or ():
        steps[name] = [getattr(s.features if name in FEATURES else s, name) for s in outcome.steps]
    pauses = np.zeros(len(outcome.pauses), PAUSE)
    for name in PAUSE.names or ():
        pauses[name] = [getattr(pause, name) for pause in outcome.pauses]
    return FastOutcome(requests, steps, len(steps), outcome.end_ns, outcome.stuck, pauses)


def _number(value: int | None) -> int:
    return UNSET if value is None else value
