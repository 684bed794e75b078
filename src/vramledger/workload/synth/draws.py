"""Seeded streams of random numbers, and draws from a table of shares."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

CHUNK: Final = 262_144  # requests drawn at a time; part of what a seed means
PARTS: Final = ("arrivals", "lengths", "conversations", "sharing", "marks", "closeness")


def streams(seed: int) -> "Mapping[str, np.random.Generator]":
    """One independent stream for each of `PARTS`, so that one choice does not change another part."""
    import numpy as np

    children = np.random.SeedSequence(seed).spawn(len(PARTS))
    return {
        part: np.random.Generator(np.random.PCG64(child))
        for part, child in zip(PARTS, children, strict=True)
    }


class Shares:
    """Places 0, 1, ... drawn in proportion to their weights."""

    def __init__(self, weights: "NDArray[np.float64]") -> None:
        import numpy as np

        total = np.cumsum(weights)
        self._edges = total / total[-1]

    def draw(self, rng: "np.random.Generator", count: int) -> "NDArray[np.int64]":
        """So many places; those of weight 0 never come."""
        import numpy as np

        found = np.searchsorted(self._edges, rng.random(count), side="right")
        return np.minimum(found, len(self._edges) - 1)
