"""Figures of other tools over times between chunks, which are counted and never held one by one."""

from typing import TYPE_CHECKING, Any

from vramledger.record.gap_counts import GapCounts
from vramledger.trial.conduct.detail import SHARES, Detail

if TYPE_CHECKING:
    import numpy as np

    Whole = np.ndarray[Any, np.dtype[np.int64]]


def detail_of_gaps(found: GapCounts) -> Detail | None:
    """In seconds, percentiles between two values; None where there is no gap."""
    import numpy as np

    mean, seconds = found.mean_s, found.seconds
    if mean is None:
        return None
    return Detail(
        count=found.count,
        total=mean * found.count,
        mean=mean,
        std=float(np.sqrt(((seconds - mean) ** 2 * found.counts).sum() / found.count)),
        mode=float(seconds[found.counts.argmax()]),
        min=float(seconds[0]),
        max=float(seconds[-1]),
        percentiles={share: _between(found, share) for share in SHARES},
    )


def with_more(found: GapCounts, us: "Whole", counts: "Whole") -> GapCounts:
    """The same with gaps of these lengths, in microseconds, so often more."""
    import numpy as np

    lengths, places = np.unique(np.concatenate((found.us, us)), return_inverse=True)
    sums = np.zeros(len(lengths), np.int64)
    np.add.at(sums, places, np.concatenate((found.counts, counts)))
    return GapCounts(lengths[sums > 0], sums[sums > 0])


def _between(found: GapCounts, share: float) -> float:
    """As `numpy.quantile` has it of all gaps laid out."""
    import numpy as np

    upto = np.cumsum(found.counts)
    place = share * (int(upto[-1]) - 1)
    below = int(place)
    low, high = (
        found.seconds[np.searchsorted(upto, min(each, int(upto[-1]) - 1), side="right")]
        for each in (below, below + 1)
    )
    return float(low + (high - low) * (place - below))
