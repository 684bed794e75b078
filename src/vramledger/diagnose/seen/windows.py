"""Windows of time: every series of a run is averaged over the same ones, so that figures of one moment stand beside each other."""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

MOST: Final = 120
_SHORTEST_S: Final = 0.5


@frozen
class Windows:
    """`edges_s` rise, seconds of the run; a window more than one is never empty of time."""

    edges_s: "Floats"

    def __len__(self) -> int:
        return len(self.edges_s) - 1

    @property
    def widths_s(self) -> "Floats":
        """How long each lasts."""
        found: Floats = np.diff(self.edges_s)
        return found

    @property
    def middles_s(self) -> "Floats":
        """The middle of each."""
        found: Floats = (self.edges_s[1:] + self.edges_s[:-1]) / 2
        return found

    @property
    def nothing(self) -> "Floats":
        """A series that was not seen: NaN in every window."""
        return np.full(len(self), np.nan)

    def place(self, t_s: "Floats") -> "np.ndarray[Any, np.dtype[np.int64]]":
        """The window of each moment; -1 for none."""
        at = np.searchsorted(self.edges_s, t_s, side="right") - 1
        last = t_s == self.edges_s[-1]
        at = np.where(last, len(self) - 1, at)
        return np.where(np.isnan(t_s) | (at >= len(self)), -1, at)

    def count(self, t_s: "Floats") -> "Floats":
        """How many of the moments lie in each."""
        at = self.place(t_s)
        return np.bincount(at[at >= 0], minlength=len(self)).astype(np.float64)

    def mean(self, t_s: "Floats", values: "Floats", weights: "Floats | None" = None) -> "Floats":
        """The mean of values at moments; NaN where a window has none."""
        at = self.place(t_s)
        told = (at >= 0) & np.isfinite(values)
        each = np.ones(len(values)) if weights is None else weights
        sums = np.bincount(at[told], (values * each)[told], len(self))
        counts = np.bincount(at[told], each[told], len(self))
        found: Floats = np.divide(sums, counts, out=self.nothing, where=counts > 0)
        return found

    def rate(self, t_s: "Floats", counted: "Floats") -> "Floats":
        """What a counter grew by in a second of each window; straight between two readings, NaN before the first and after the last.

        A fall is a restart: the counter began again at 0.
        """
        told = np.isfinite(counted)
        if told.sum() < 2:
            return self.nothing
        steps = np.diff(counted[told])
        grown = np.concatenate(([0.0], np.cumsum(np.where(steps >= 0, steps, counted[told][1:]))))
        at = np.interp(self.edges_s, t_s[told], grown, left=np.nan, right=np.nan)
        at = _until_the_ends(at, self.edges_s, t_s[told], grown)
        return np.diff(at) / self.widths_s

    def present(self, from_s: "Floats", to_s: "Floats") -> "Floats":
        """The mean number of those that are there from one moment to another, in each window."""
        begun, ended = (self._time_after(np.sort(each)) for each in (from_s, to_s))
        return np.diff(begun - ended) / self.widths_s

    def _time_after(self, moments: "Floats") -> "Floats":
        """For each edge, the sum of how long before it each earlier moment lay."""
        finite = moments[np.isfinite(moments)]
        sums = np.concatenate(([0.0], np.cumsum(finite)))
        at = np.searchsorted(finite, self.edges_s)
        found: Floats = at * self.edges_s - sums[at]
        return found


def windows_over(from_s: float, to_s: float, shortest_s: float = _SHORTEST_S) -> Windows:
    """Up to `MOST` equal windows, each of `shortest_s` at least; one where the time is shorter."""
    span = to_s - from_s
    if not span > 0:
        return Windows(np.array([from_s, from_s + _SHORTEST_S]))
    count = int(min(max(span / max(shortest_s, 1e-9), 1), MOST))
    return Windows(np.linspace(from_s, to_s, count + 1))


def _until_the_ends(at: "Floats", edges: "Floats", t_s: "Floats", grown: "Floats") -> "Floats":
    """The first reading counts as at the edge before it where it lies in the first window, the last likewise."""
    found = at.copy()
    before = np.flatnonzero(edges < t_s[0])
    if len(before) and before[-1] + 1 < len(edges):
        found[before[-1]] = grown[0]
    after = np.flatnonzero(edges > t_s[-1])
    if len(after) and after[0] > 0:
        found[after[0]] = grown[-1]
    return found
