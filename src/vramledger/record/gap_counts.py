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
