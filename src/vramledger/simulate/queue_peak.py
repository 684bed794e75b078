"""The longest queue of a run, and how long it took to drain."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vramledger.frozen import frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vramledger.simulate.engines import Engine

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]


@frozen
class QueuePeak:
    """Of the engine whose longest queue took longest to drain.

    `drained_after_s` counts from the peak to the first moment at which nobody waits, which may lie after
    the last arrival; None where requests wait for ever.
    """

    waiting: int
    at_s: float  # from the start
    drained_after_s: float | None


def queue_peak(engines: "Sequence[Engine]") -> QueuePeak | None:
    """The worst engine's peak; None where nobody ever waits beside a step that runs."""
    found = [peak for peak in map(_peak, engines) if peak is not None]
    return max(found, key=_hardship, default=None)


def _hardship(peak: QueuePeak) -> float:
    return np.inf if peak.drained_after_s is None else peak.drained_after_s


def _peak(engine: "Engine") -> QueuePeak | None:
    steps = engine.found.steps
    if not len(steps) or not steps["waiting"].any():
        return None
    top = int(steps["waiting"].argmax())
    at = int(steps["start_ns"][top])
    empty = _empty_from(steps[top:], stuck=bool(engine.found.stuck))
    lasted = None if empty is None else (empty - at) / 1e9
    return QueuePeak(int(steps["waiting"][top]), at / 1e9, lasted)


def _empty_from(steps: "Array", *, stuck: bool) -> int | None:
    """The first moment at which nobody waits: a step begins so, the engine idles, or all is over."""
    nobody = np.flatnonzero(steps["waiting"] == 0)[:1]
    idle = np.flatnonzero(steps["start_ns"][1:] > steps["end_ns"][:-1])[:1]
    moments = [int(steps["start_ns"][place]) for place in nobody]
    moments += [int(steps["end_ns"][place]) for place in idle]
    if not moments and not stuck:
        moments = [int(steps["end_ns"][-1])]
    return min(moments, default=None)
