"""Times of both sides, of the same requests."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.methods.mirror.over_time import OverTime
from vramledger.methods.mirror.row import Row
from vramledger.methods.shadow.intervals import Estimate

if TYPE_CHECKING:
    import numpy as np

PERCENTS: Final = (50, 95, 99)
NAMES: Final = ("ttft_s", "e2e_s", "gap_s")


@frozen
class Latency:
    """One time of both sides, seconds at `PERCENTS`; `ratio` is the median of B's over A's, request by request."""

    name: str
    requests: int
    a: tuple[float, ...]
    b: tuple[float, ...]
    ratio: Estimate


def latencies_of(rows: Sequence[Row]) -> tuple[Latency, ...]:
    """Of the requests, in order of time, whose client did not slow A down."""
    usable = [each for each in rows if not each.slowed]
    return tuple(_latency(name, usable) for name in NAMES)


def _latency(name: str, rows: Sequence[Row]) -> Latency:
    import numpy as np

    both = [(getattr(each.a, name), getattr(each.b, name)) for each in rows]
    known = [(x, y) for x, y in both if x is not None and y is not None and x > 0 and y > 0]
    if not known:
        return Latency(
            name, 0, (), (), Estimate(None, reason="no request has this time on both sides")
        )
    a, b = np.array(known, dtype=float).T
    ratios = np.log(b / a)
    told = [tuple(float(each) for each in np.percentile(side, PERCENTS)) for side in (a, b)]
    return Latency(name, len(known), told[0], told[1], _median(ratios))


def _median(logs: "np.ndarray[Any, Any]") -> Estimate:
    """The median ratio."""
    import numpy as np

    found = OverTime().median(logs)
    value, low, high = (
        None if each is None else float(np.exp(each))
        for each in (found.value, found.low, found.high)
    )
    return Estimate(value, low, high, found.reason)
