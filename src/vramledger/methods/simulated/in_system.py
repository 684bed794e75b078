"""Requests in the system over time, of all engines together: from when each was due until it ended."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vramledger.frozen import frozen
from vramledger.simulate.percentiles import weighted_percentile

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


@frozen
class InSystem:
    """Over the time in which requests arrive; None where that is no time."""

    mean: float | None
    p99: float | None


def in_system(due_s: "Floats", done_s: "Floats") -> InSystem:
    """Of requests in the order they are due; one without an end (NaN) stays."""
    first, last = float(due_s[0]), float(due_s[-1])
    if not last > first:
        return InSystem(None, None)
    ends = np.where(np.isnan(done_s), np.inf, done_s)
    times = np.concatenate([due_s, ends])
    changes = np.repeat((1.0, -1.0), len(due_s))
    order = np.argsort(times, kind="stable")
    present = np.cumsum(changes[order])
    bounded = np.minimum(times[order], last)
    lasted = np.diff(bounded, append=last)
    mean = float((present * lasted).sum()) / (last - first)
    return InSystem(mean, weighted_percentile(present, lasted, 0.99))
