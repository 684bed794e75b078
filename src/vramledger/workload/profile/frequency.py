"""Frequency tables: distinct whole numbers and how often each occurs, and what follows from them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.workload.profile.bins import EDGES
from vramledger.workload.profile.profile import Lengths

if TYPE_CHECKING:
    import numpy as np

_NAMED: Final = {
    "p10": 10,
    "p25": 25,
    "p50": 50,
    "p75": 75,
    "p90": 90,
    "p95": 95,
    "p99": 99,
    "p999": 99.9,
}
_ALL: Final = tuple(step / 1000 for step in range(1001))


@frozen
class Frequency:
    """int64 arrays of one length, at least 1: distinct values, ascending, and how often each occurs."""

    values: "np.ndarray[Any, np.dtype[np.int64]]"
    counts: "np.ndarray[Any, np.dtype[np.int64]]"

    @property
    def count(self) -> int:
        return int(self.counts.sum())

    @property
    def total(self) -> int:
        """The sum of all; below 2^63 for any log that fits on a disk."""
        return int(self.values @ self.counts)

    def above(self, limit: int) -> int:
        """How many exceed the limit."""
        import numpy as np

        return int(self.counts[np.searchsorted(self.values, limit, side="right") :].sum())

    def times(self, value: int) -> int:
        """How many are equal to the value."""
        return self.above(value - 1) - self.above(value)

    def quantiles(self, shares: Sequence[float]) -> list[float]:
        """The same floats as `numpy.quantile` (method linear) of the written-out values.

        Args:
            shares: 0..1.
        """
        import numpy as np

        upto = np.cumsum(self.counts)
        rank = (upto[-1] - 1) * np.asarray(shares, np.float64)
        below = np.floor(rank)
        part = rank - below
        low = self._at(upto, below)
        high = self._at(upto, np.minimum(below + 1, upto[-1] - 1))
        step = high - low
        return [
            float(each)
            for each in np.where(part < 0.5, low + step * part, high - step * (1 - part))
        ]

    def _at(self, upto: Any, rank: Any) -> Any:
        """The order statistics of these ranks, from 0."""
        import numpy as np

        places = np.searchsorted(upto, rank.astype(np.int64), side="right")
        return self.values[places].astype(np.float64)

    def lengths(self, *, quantiles: bool = True) -> Lengths:
        """The figures of a profile."""
        named = self.quantiles([percent / 100 for percent in _NAMED.values()])
        return Lengths(
            count=self.count,
            total=self.total,
            mean=self.total / self.count,
            min=int(self.values[0]),
            max=int(self.values[-1]),
            quantiles=tuple(self.quantiles(_ALL)) if quantiles else (),
            bins=self._bins(),
            **dict(zip(_NAMED, named, strict=True)),
        )

    def _bins(self) -> tuple[tuple[int, int], ...]:
        import numpy as np

        places = np.searchsorted(np.array(EDGES), self.values, side="right") - 1
        counts = np.zeros(len(EDGES), np.int64)
        np.add.at(counts, places, self.counts)
        return tuple((int(place), int(counts[place])) for place in np.flatnonzero(counts))


def added_up(values: Any, counts: Any) -> Frequency | None:
    """A table in any order, in which values may repeat; None where it is empty."""
    import numpy as np

    if not len(values):
        return None
    distinct, places = np.unique(values, return_inverse=True)
    if len(distinct) == len(values):
        return Frequency(distinct, counts[np.argsort(places)])
    sums = np.zeros(len(distinct), np.int64)
    np.add.at(sums, places, counts)
    return Frequency(distinct, sums)
