"""The step of a log's times, where they are coarser than its arrivals."""

from statistics import median_low
from typing import TYPE_CHECKING, Any, Final

from vramledger.workload.profile.aggregates import Expression, milliseconds

if TYPE_CHECKING:
    import numpy as np

    Integers = np.ndarray[Any, np.dtype[np.int64]]

LOOKED_AT_S: Final = 7200  # of the log, from its beginning
_FEWEST: Final = 20  # distinct times below which nothing is said
_LEAST_MS: Final = 100  # finer steps are how logs are written, not a loss
_SLACK: Final = 0.002  # of a gap; beside it 2 ms


def instants(table: Expression) -> Expression:
    """value: the distinct arrivals in whole milliseconds, of the beginning of the log."""
    first = table.filter(table.arrival_s < LOOKED_AT_S)
    return first.select(value=milliseconds(first.arrival_s)).distinct()


def quantum_s(times_ms: "Integers") -> float | None:
    """The step that all gaps between distinct times are multiples of; None where there is none.

    Args:
        times_ms: distinct, in any order.
    """
    import numpy as np

    steps = np.diff(np.sort(times_ms))
    if len(times_ms) < _FEWEST or steps.min() < _LEAST_MS:
        return None
    gaps: list[int] = steps.tolist()
    least = min(gaps)
    step = median_low([gap / round(gap / least) for gap in gaps])
    whole = round(step / 10) * 10
    if all(abs(gap - round(gap / whole) * whole) <= _SLACK * gap + 2 for gap in gaps):
        return whole / 1000
    return None
