"""What the left-out errors must hold."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from timing_fit.evaluate import Point
from timing_fit.scores import coverage, score

_LARGEST: Final = {"tpot_median": 0.07, "tpot_mean": 0.10, "ttft_median": 0.14, "ttft_mean": 0.20}
_COVERAGE: Final = (0.85, 0.98)


def missed(points: Sequence[Point], logs: NDArray[np.float64]) -> Iterator[str]:
    """One sentence for every target that does not hold."""
    found = score("all", logs)
    for name, largest in _LARGEST.items():
        value = getattr(found, name)
        if value > largest:
            yield f"{name} is {value:.3f}, over {largest}."
    for place, name in enumerate(("TPOT", "TTFT")):
        share = coverage(points, logs[:, place])
        if not _COVERAGE[0] <= share <= _COVERAGE[1]:
            yield f"The band of {name} covers {share:.3f}, outside {_COVERAGE[0]} to {_COVERAGE[1]}."
