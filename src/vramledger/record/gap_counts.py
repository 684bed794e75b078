<<<<<<< HEAD
"""How often each time between two chunks occurs: percentiles of any number of gaps in little memory.

Offsets of chunks are whole microseconds, so that a hundred million gaps have some ten thousand values.
"""

from typing import TYPE_CHECKING, Any, Final, Literal

from vramledger.frozen import frozen
from vramledger.record.latency import gaps_us

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pyarrow as pa

    Integers = np.ndarray[Any, np.dtype[np.int64]]

_HELD: Final = 4_000_000  # values in memory before equal ones are put together
_US: Final = 1e6

Method = Literal["inverted_cdf", "linear"]


class GapCounts:
    """Gaps in microseconds, with how often each occurs."""

    def __init__(self) -> None:
        self._parts: list[tuple[Integers, Integers]] = []
        self._held = 0

    def add(self, chunk_offset_us: "pa.Array") -> "Integers":
        """The gaps of a column of chunk offsets, which are also given back, in microseconds."""
        found = gaps_us(chunk_offset_us)
        self.add_us(found)
        return found

    def add_us(self, gaps: "Integers") -> None:
        """Gaps in microseconds."""
        import numpy as np

        if len(gaps):
            self.put(*np.unique(gaps, return_counts=True))

    def put(self, values: "Integers", counts: "Integers") -> None:
        """Gaps in microseconds that occur so often."""
        self._parts.append((values, counts))
        self._held += len(values)
        if self._held > _HELD:
            self._parts = [self._together()]
            self._held = len(self._parts[0][0])

    def _together(self) -> "tuple[Integers, Integers]":
        import numpy as np

        if not self._parts:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        values, places = np.unique(np.concatenate([each[0] for each in self._parts]), return_inverse=True)  # fmt: skip
        counts = np.zeros(len(values), np.int64)
        np.add.at(counts, places, np.concatenate([each[1] for each in self._parts]))
        return values, counts

    def counted(self) -> "CountedGaps":
        """What was added until now."""
        values, counts = self._together()
        self._parts, self._held = [(values, counts)], len(values)
        return CountedGaps(values, counts)


@frozen
class CountedGaps:
    """The gaps that occur, rising, in microseconds, and how often each does."""

    values_us: "Integers"
    counts: "Integers"

    def __len__(self) -> int:
        return int(self.counts.sum())

    def with_zeros(self, number: int) -> "CountedGaps":
        """The same with so many gaps of 0 more."""
        import numpy as np

        if number <= 0:
            return self
        if len(self.values_us) and self.values_us[0] == 0:
            more = np.zeros(len(self.counts), np.int64)
            more[0] = number
            return CountedGaps(self.values_us, self.counts + more)
        return CountedGaps(np.append(0, self.values_us), np.append(number, self.counts))

    def joined(self, more_us: "Integers") -> "CountedGaps":
        """The same with some gaps more, in any order."""
        found = GapCounts()
        found.put(self.values_us, self.counts)
        found.add_us(more_us)
        return found.counted()

    @property
    def mean_s(self) -> float:
        """Of one gap or more."""
        return float((self.values_us * self.counts).sum()) / len(self) / _US

    def quantiles_s(self, shares: "Sequence[float]", method: Method) -> list[float]:
        """As `numpy.quantile` has them, of one gap or more."""
        import numpy as np

        up_to = np.cumsum(self.counts)
        return [self._quantile_us(up_to, share, method) / _US for share in shares]

    def _quantile_us(self, up_to: "Integers", share: float, method: Method) -> float:
        import numpy as np

        total = int(up_to[-1])
        place = share * total - 1 if method == "inverted_cdf" else share * (total - 1)
        below = int(np.floor(place))
        part = place - below
        if method == "inverted_cdf":
            return self._at(up_to, below + (part > 0))
        low = self._at(up_to, below)
        return low + (self._at(up_to, below + 1) - low) * part

    def _at(self, up_to: "Integers", place: int) -> int:
        """The value at a place of all gaps in order, from 0."""
        import numpy as np

        place = min(max(place, 0), int(up_to[-1]) - 1)
        return int(self.values_us[np.searchsorted(up_to, place, side="right")])
=======
"""How many times between output events are so long: of any number of them, exact, in the memory of a few.

The clock of a client counts whole microseconds, so that an hour of gaps has no more lengths than its longest gap has microseconds. Gaps
below `_SHORT_US` are counted in one array, the few above by themselves.
"""

from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Whole = np.ndarray[Any, np.dtype[np.int64]]

ROWS: Final = 2_048  # requests of a batch: some MB, also where answers are long
_SHORT_US: Final = 1 << 20
_MICRO: Final = 1e6


@frozen
class GapCounts:
    """`us` are the lengths that occur, in microseconds and rising, `counts` how often each does."""

    us: "Whole"
    counts: "Whole"

    @property
    def count(self) -> int:
        """Of all."""
        return int(self.counts.sum())

    @property
    def seconds(self) -> "Floats":
        """The lengths."""
        found: Floats = self.us / _MICRO
        return found

    @property
    def mean_s(self) -> float | None:
        """None of nothing."""
        return int((self.us * self.counts).sum()) / self.count / _MICRO if len(self.us) else None

    def at(self, share: float) -> float | None:
        """In seconds: the least length that the share does not exceed. None of nothing."""
        import numpy as np

        if not len(self.us):
            return None
        upto = np.cumsum(self.counts)
        place = max(int(np.ceil(share * int(upto[-1]) - 1)), 0)
        return float(self.us[np.searchsorted(upto, place, side="right")] / _MICRO)


class GapCounter:
    """Counts gaps as they are read."""

    def __init__(self) -> None:
        import numpy as np

        self._short: Whole = np.zeros(_SHORT_US, np.int64)
        self._long: list[Whole] = [np.zeros(0, np.int64)]

    def add(self, us: "Whole") -> None:
        """Gaps, in microseconds."""
        import numpy as np

        short = (us >= 0) & (us < _SHORT_US)
        counts = np.bincount(us[short])
        self._short[: len(counts)] += counts
        if not short.all():
            self._long.append(us[~short])

    def found(self) -> GapCounts:
        """All that were added."""
        import numpy as np

        at = np.flatnonzero(self._short)
        us, counts = np.unique(np.concatenate(self._long), return_counts=True)
        below = us < 0
        return GapCounts(
            np.concatenate([us[below], at, us[~below]]),
            np.concatenate([counts[below], self._short[at], counts[~below]]).astype(np.int64),
        )
>>>>>>> main
