"""Headline figures of another tool, and the same worked out anew from the imported records by that tool's own definition.

They agree when they are no further apart than what the way into our tables can move them: times are kept to a microsecond
(a gap is the difference of two), and sums of floats differ in their last digits.
"""

from collections.abc import Iterator, Mapping
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.trial.conduct.detail import Detail

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

_ROUNDED: Final = 2e-6  # seconds
_RELATIVE: Final = 1e-6


@frozen
class Claim:
    """One figure: `told` by the file, `found` from its records (None where they do not hold it); unit "s" or another.

    `slack` is how far apart they may be, as a share, where a rate is over moments that the file rounds; `rounded` in its unit, where the file
    rounds the figure itself.
    """

    name: str
    unit: str
    told: float
    found: float | None
    slack: float = _RELATIVE
    rounded: float = 0.0

    @property
    def deviation(self) -> float | None:
        """Found less told."""
        return None if self.found is None else self.found - self.told

    @property
    def agrees(self) -> bool | None:
        """Whether both are one figure; None where it was not worked out."""
        if self.deviation is None:
            return None
        ours = _ROUNDED if self.unit == "s" else 0.0
        return abs(self.deviation) <= ours + self.rounded + self.slack * abs(self.told)


@frozen
class Names:
    """Under which keys a file has the statistics of one figure: our names ("mean", "p50", ...) to its keys.

    `rounded` is how far the file's figure may be off by its rounding, in its own unit.
    """

    title: str
    unit: str
    factor: float
    keys: Mapping[str, str]
    rounded: float = 0.0


def claims(told: Mapping[str, Any], names: Names, found: Detail | None) -> Iterator[Claim]:
    """A claim for each statistic that the file has; its figures times `factor` are in our unit."""
    for statistic, key in names.keys.items():
        value = told.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            continue
        yield Claim(
            f"{names.title} {statistic}",
            names.unit,
            value * names.factor,
            _of(found, statistic),
            rounded=names.rounded * names.factor,
        )


def _of(found: Detail | None, statistic: str) -> float | None:
    if found is None:
        return None
    if statistic in ("mean", "min", "max"):
        return float(getattr(found, statistic))
    return found.percentiles.get(float(statistic.removeprefix("p")) / 100)
