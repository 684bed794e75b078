"""How long a load arrives, and until when its busiest part is over."""

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from vramledger.simulate.offered import Offered

_NANO: Final = 1e-9
_BUSY_S: Final = 300.0
_SHORT_S: Final = 3600.0


def span_seconds(offered: "Offered") -> float:
    """Seconds of arrivals: from the first to the last, and one mean distance more."""
    due = offered.due_ns
    count = len(due)
    span = float(due[-1] - due[0]) * _NANO
    return span * count / (count - 1) if count > 1 and span > 0 else max(span, 1.0)


def fewest_seconds(offered: "Offered") -> float:
    """How long a trial must at least send a load to have met its busiest part.

    The whole of a load of up to an hour, else until the end of the five minutes with the most requests.
    """
    whole = span_seconds(offered)
    if whole <= _SHORT_S:
        return whole
    due = (offered.due_ns - offered.due_ns[0]) * _NANO
    until = np.searchsorted(due, due + _BUSY_S, side="left")
    busiest = int(np.argmax(until - np.arange(len(due))))
    return min(float(due[busiest]) + _BUSY_S, whole)
