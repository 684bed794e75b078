"""Steps in which a request that was preempted has not got back to where it was.

Until its next token it waits for blocks or computes again what it had, and whatever others then wait for, they wait for
because the KV cache was short. A request that had tokens when it was preempted pauses, and a pause tells its last step
before and the next one after. One that had none, and none of the pauses, recovers from the first step after its own start that
preempted anybody to its first token. Not told, and left out: a preemption that the very next step makes good, one before the first
token of a request that was preempted after it too, and one from which a request never came back.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vramledger.simulate.fast.records import OK
from vramledger.simulate.spans import spans_over

if TYPE_CHECKING:
    from vramledger.simulate.engines import Engine

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


def recovering(engine: "Engine") -> "Array":
    """For each step of an engine whether any request recovers; nobody does where pauses are not told."""
    steps, pauses = engine.found.steps, engine.found.pauses
    if pauses is None:
        return np.zeros(len(steps), np.bool_)
    preempted = engine.found.requests["preemptions"] > 0
    paused = pauses[preempted[pauses["rank"]]]
    found: Array = spans_over(paused["last_step"], paused["next_step"], len(steps)) > 0
    return found | _before_their_first_token(engine, preempted, pauses["rank"])


def _before_their_first_token(engine: "Engine", preempted: "Array", paused: "Array") -> "Array":
    """The same for requests that were preempted before they had a token, and never after."""
    steps, requests = engine.found.steps, engine.found.requests
    young = preempted & (requests["ending"] == OK)
    young[paused] = False
    began, spoke = requests["scheduled_step"][young], requests["first_token_step"][young]
    short = np.append(np.flatnonzero(steps["preempted"]), len(steps))
    lost = short[np.searchsorted(short, began, side="right").clip(max=len(short) - 1)]
    told = lost <= spoke
    found: Array = spans_over(lost[told] - 1, spoke[told], len(steps)) > 0
    return found
