"""ITL: the seconds between two output events of a request, over all requests of a run.

An output event is a step whose end brings a request tokens. Where it does not pause, its events are the
ends of successive steps, so that a step counts for as many gaps as requests had events at its end and at
the end before. A pause after a preemption is one long gap, as a client sees it.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vramledger.frozen import frozen
from vramledger.simulate.fast.records import UNSET
from vramledger.simulate.percentiles import Percentiles, weighted, weighted_percentile
from vramledger.simulate.spans import spans_over

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vramledger.simulate.engines import Engine

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


@frozen
class Gaps:
    """Seconds, and how many gaps are so long; `pauses_told` is whether those of pauses are among them."""

    seconds: "Array"
    events: "Array"
    pauses_told: bool = True

    def at(self, share: float) -> float | None:
        """The percentile for that share, None where there is no gap."""
        return weighted_percentile(self.seconds, self.events, share)

    @property
    def percentiles(self) -> Percentiles:
        """The usual ones."""
        return weighted(self.seconds, self.events)


def output_gaps(engines: "Sequence[Engine]", wanted: "Array | None" = None) -> Gaps:
    """The gaps of all engines together; with `wanted`, true for some of all requests, of those alone.

    An engine that does not tell its pauses counts the decodes of each step, and no pause; of some requests, the steps
    between their first event and their last.
    """
    found = [_gaps(one, None if wanted is None else wanted[one.places]) for one in engines]
    return Gaps(
        np.concatenate([each.seconds for each in found]),
        np.concatenate([each.events for each in found]),
        all(each.pauses_told for each in found),
    )


def _gaps(engine: "Engine", wanted: "Array | None") -> Gaps:
    steps, pauses, requests = engine.found.steps, engine.found.pauses, engine.found.requests
    ends = steps["end_ns"]
    if wanted is not None:
        requests = requests[wanted]
        pauses = None if pauses is None else pauses[wanted[pauses["rank"]]]
    if pauses is None:
        told = not requests["preemptions"].any()
        events = steps["decode_requests"] if wanted is None else _going_on(requests, len(steps))
        return Gaps(np.diff(ends) / 1e9, events[1:].astype(np.float64), told)
    last, following = pauses["last_step"], pauses["next_step"]
    successive = _going_on(requests, len(steps)) - spans_over(last, following, len(steps))
    return Gaps(
        np.append(np.diff(ends), ends[following] - ends[last]) / 1e9,
        np.append(successive[1:], np.ones(len(pauses))),
    )


def _going_on(requests: "Array", steps: int) -> "Array":
    """For each step how many requests stand between their first and their last event before it ends."""
    spoke = requests["first_token_step"] != UNSET
    return spans_over(
        requests["first_token_step"][spoke], requests["last_token_step"][spoke], steps
    )
