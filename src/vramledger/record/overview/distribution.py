"""A distribution as some hundred points of its quantile function, dense where few requests decide."""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_EVEN: Final = 200  # points of equal share
_TAIL: Final = 200  # points that halve what is left, again and again
_RAREST: Final = 1e-7


@frozen
class Distribution:
    """`values[i]` is the least figure that the share `shares[i]` (0..1) does not exceed.

    Both rise; a value is infinite where the share reaches into failures. `count` is how many figures
    there are, each as often as it occurred.
    """

    shares: "Floats"
    values: "Floats"
    count: float

    @property
    def from_the_top(self) -> "Floats":
        """The share of those with as much or more, for each value: 0 for the greatest."""
        return 1.0 - self.shares

    def at(self, share: float) -> float:
        """The least value that this share (0..1) does not exceed, among those that are kept."""
        place = int(self.shares.searchsorted(share - 1e-12))
        return float(self.values[min(place, len(self.values) - 1)])


def distribution(figures: "Floats", weights: "Floats | None" = None) -> Distribution | None:
    """Of all figures that are numbers or infinite; None where there is none."""
    counted = ~np.isnan(figures)
    if weights is not None:
        counted &= weights > 0
    ordered = np.argsort(figures[counted], kind="stable")
    if not len(ordered):
        return None
    upto = np.cumsum(np.ones(len(ordered)) if weights is None else weights[counted][ordered])
    whole = float(upto[-1])
    shares = _shares(max(1 / whole, _RAREST))
    places = np.searchsorted(upto, shares * whole * (1 - 1e-12)).clip(max=len(ordered) - 1)
    return Distribution(shares, figures[counted][ordered][places], whole)


def _shares(rarest: float) -> "Floats":
    tail = 1.0 - np.geomspace(1.0, rarest, _TAIL)
    found: Floats = np.unique(np.concatenate((np.linspace(0.0, 1.0, _EVEN + 1), tail)))
    return found
