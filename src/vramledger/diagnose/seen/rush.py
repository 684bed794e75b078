"""Whether more requests came for a time than at others, and whether the queue stood just then.

Arrivals of a time are held against those of the time without a queue: a ratio, and how many standard deviations of a Poisson count it lies above,
so that chance is not taken for a rush. While a queue builds up, arrivals decide; how long it then takes to drain does not.
"""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vramledger.frozen import frozen

if TYPE_CHECKING:
    from vramledger.diagnose.evidence import Evidence

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
    Truths: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

_LEAST: float = 0.5  # waiting on average: a queue


@frozen
class Rush:
    """`ratio` is the tokens a second that came while the queue grew over those at other times, `deviations` how sure that is of the requests.

    `free` is the share of the loaded time without a queue, `from_s` and `to_s` the time with one. `drains` is whether the queue was empty at the end
    of the arrivals. NaN where nothing was seen.
    """

    ratio: float
    deviations: float
    free: float
    from_s: float
    to_s: float
    drains: bool
    began_at: float  # share of the loaded time after which the queue first stood


def rush_of(evidence: "Evidence") -> Rush:
    """The rush of a run, whatever holds its queue."""
    queue = evidence.of("waiting")
    if not np.isfinite(queue).any():
        queue = evidence.of("request_queue_s") * evidence.of("arrivals_per_s")
    loaded = _loaded(evidence)
    told = loaded & np.isfinite(queue)
    if told.sum() < 4:
        return Rush(np.nan, np.nan, np.nan, np.nan, np.nan, True, np.nan)
    stands = told & (queue >= max(_LEAST, 0.02 * float(np.nanmax(queue[told]))))
    free = told & ~stands
    grows = _growing(queue, stands)
    ratio, deviations = _against(evidence, grows, free)
    widths, middles = evidence.windows.widths_s, evidence.windows.middles_s
    at = np.flatnonzero(stands)
    last = np.flatnonzero(told)[-1]
    first = np.flatnonzero(told)[0]
    return Rush(
        ratio=ratio,
        deviations=deviations,
        free=float(widths[free].sum() / widths[told].sum()),
        from_s=float(middles[at[0]]) if len(at) else np.nan,
        to_s=float(middles[at[-1]]) if len(at) else np.nan,
        drains=not bool(stands[max(last - 1, 0) : last + 1].all()),
        began_at=float((at[0] - first) / max(last - first, 1)) if len(at) else np.nan,
    )


def _loaded(evidence: "Evidence") -> "Truths":
    """The windows from the first to the last arrival; of a server alone all of them."""
    arrivals = np.nan_to_num(evidence.of("arrivals_per_s"))
    at = np.flatnonzero(arrivals > 0)
    found = np.zeros(len(arrivals), np.bool_)
    if len(at):
        found[at[0] : at[-1] + 1] = True
    else:
        found[:] = True
    return found


def _growing(queue: "Floats", stands: "Truths") -> "Truths":
    """Of the windows with a queue those up to its height, in each stretch; a lag of one window before it is part of it."""
    found = np.zeros(len(queue), np.bool_)
    at = np.flatnonzero(stands)
    for stretch in np.split(at, np.flatnonzero(np.diff(at) > 1) + 1):
        if len(stretch):
            top = stretch[int(np.argmax(queue[stretch]))]
            found[stretch[0] : top + 1] = True
    return found


def _against(evidence: "Evidence", grows: "Truths", free: "Truths") -> tuple[float, float]:
    """Arrivals while the queue grew over those of the free time, in tokens; and the deviations of the requests."""
    widths = evidence.windows.widths_s
    arrivals = np.nan_to_num(evidence.of("arrivals_per_s"))
    if not free.any() or not grows.any():
        return 1.0, 0.0
    time_free, time_grown = float(widths[free].sum()), float(widths[grows].sum())
    base = float((arrivals * widths)[free].sum())
    grown = float((arrivals * widths)[grows].sum())
    if base <= 0:
        return np.inf, np.inf
    expected = base / time_free * time_grown
    deviations = (grown - expected) / np.sqrt(expected * (1 + time_grown / time_free))
    return grown / expected, float(deviations)
