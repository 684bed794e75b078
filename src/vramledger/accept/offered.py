"""One run as it is judged: what was offered, in the order in which it was due."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vramledger.accept.gaps import RequestGaps, gaps_by_request
from vramledger.accept.told import Told, told_of
from vramledger.frozen import frozen
from vramledger.methods.measured.contract import served_of
from vramledger.methods.trialplan.decided import QUEUE, queue_times
from vramledger.trial.conduct.latencies import Measured, measured

if TYPE_CHECKING:
    import numpy as np

    from vramledger.record.run import Run
    from vramledger.simulate.judged import Served

    Floats = np.ndarray[Any, np.dtype[np.float64]]


@frozen
class Offered:
    """`found` and `served` are arrays of one length, a row a request of the measured part, by due time.

    `gaps` are the times between output events of those that ended as asked.
    """

    run: "Run"
    told: Told
    found: Measured
    served: "Served"
    gaps: RequestGaps
    queue_untold: str = ""  # why nobody told how long each request was queued

    @property
    def due_s(self) -> "Floats":
        """When each was due, in seconds of the run."""
        return self.found.columns["due_s"]

    @property
    def span_s(self) -> float:
        """From the first request due to the last one that ended."""
        return self.served.span_s

    @property
    def sent_s(self) -> float:
        """Over how long the load came: the first request due to the last."""
        import numpy as np

        return float(np.ptp(self.due_s)) if len(self.due_s) else 0.0


def read_offered(run: "Run") -> Offered:
    """A closed trial, or a simulated run.

    Raises:
        BadInput: it is none, or damaged.
    """
    import numpy as np

    told, found = told_of(run), measured(run)
    order = np.argsort(found.columns["due_s"], kind="stable")
    ordered = found.taken(order)
    served = served_of(ordered)
    queued, why = queue_times(run, found)
    if queued is not None:
        served = replace(served, latency={**served.latency, QUEUE: queued[order]})
    return Offered(run, told, ordered, served, gaps_by_request(run, order), why)
