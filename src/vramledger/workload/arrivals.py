"""The arrivals of all rows as they are read, and which of them must keep their order."""

from array import array
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Arrivals:
    """The arrivals of all rows, 8 bytes each, by the clock they count from.

    With `keep_order` 8 bytes more: a number of the row's group, in which moved times keep their order.
    """

    def __init__(self, *, keep_order: bool = False) -> None:
        self.ns = array("q")  # in the order of rows; NO_TIME where unknown
        self.relative: list[
            tuple[int, int]
        ] = []  # (first row, end) of files with a zero of their own
        self.zero_ns: int | None = None  # of those since the epoch: all are kept relative to it
        self._groups = array("q")
        self._keep_order = keep_order
        self._repeats: dict[int, int] = {}  # row of a retry -> row of its first attempt

    def epoch(self, ns: int) -> int:
        """A moment since the epoch, relative to the first that was asked for."""
        if self.zero_ns is None:
            self.zero_ns = ns
        return ns - self.zero_ns

    def add(self, ns: int, row: int, session: int | None, before: int | None) -> None:
        """The next row's arrival; `before` is the row of the attempt that it repeats."""
        self.ns.append(ns)
        if self._keep_order:
            self._groups.append(self._group(row, session, before))

    def groups(self, known: "NDArray[np.bool_]") -> "NDArray[np.int64]":
        """The groups of these rows: sessions, and attempts with those that repeat them."""
        import numpy as np

        return np.array(self._groups, np.int64)[known]

    def _group(self, row: int, session: int | None, before: int | None) -> int:
        if session is not None:
            return session
        if before is None:
            return ~row
        self._repeats[row] = first = self._repeats.get(before, before)
        return ~first
