"""A figure and how we know it.

A `Figure` is a value with a band and a basis. The band low..high is meant to hold nine of ten
held-out observations; an exact figure has no width. A decision to fit or to sign uses the
pessimistic end.
"""

from collections.abc import Iterable
from enum import StrEnum
from math import isfinite, sqrt
from typing import Final

from vramledger.frozen import frozen


class Basis(StrEnum):
    """How a figure is known, from the surest to the least sure."""

    MEASURED = "measured"  # a log, a trial
    EXACT = "exact"  # file headers, a configuration
    DERIVED = "derived"  # a formula over exact figures
    CALIBRATED = "calibrated"  # fitted to observations
    QUOTED = "quoted"  # a supplier or a data sheet said so
    ASSUMED = "assumed"  # the user, or a default of ours


_TRUST: Final = {basis: rank for rank, basis in enumerate(Basis)}


def weakest(bases: Iterable[Basis]) -> Basis:
    """The least sure of the bases; a sum is only as sure as its weakest part."""
    return max(bases, key=_TRUST.__getitem__)


@frozen
class Figure:
    """A value with its band, basis and source. The unit is in the name that holds it."""

    value: float
    low: float
    high: float
    basis: Basis
    source: str

    def __post_init__(self) -> None:
        if not (self.low <= self.value <= self.high):
            message = f"a figure's band must hold its value: {self.low}..{self.value}..{self.high}"
            raise ValueError(message)

    @classmethod
    def sharp(cls, value: float, basis: Basis, source: str) -> "Figure":
        """A figure without width."""
        return cls(value, value, value, basis, source)

    @property
    def is_sharp(self) -> bool:
        return self.low == self.high

    def scaled(self, factor: float, source: str = "") -> "Figure":
        """The figure times a constant; a negative factor swaps the ends."""
        ends = sorted((self.low * factor, self.high * factor))
        return Figure(self.value * factor, ends[0], ends[1], self.basis, source or self.source)

    def to_json(self) -> dict[str, float | str | None]:
        return {
            "value": self.value,
            "low": _finite(self.low),
            "high": _finite(self.high),
            "basis": str(self.basis),
            "source": self.source,
        }


def total(figures: Iterable[Figure], source: str) -> Figure:
    """The sum of independent figures: values add, band half-widths add in quadrature.

    An empty sum is a derived zero.
    """
    parts = tuple(figures)
    if not parts:
        return Figure.sharp(0.0, Basis.DERIVED, source)
    value = sum(part.value for part in parts)
    below = sqrt(sum((part.value - part.low) ** 2 for part in parts))
    above = sqrt(sum((part.high - part.value) ** 2 for part in parts))
    return Figure(value, value - below, value + above, weakest(p.basis for p in parts), source)


def difference(whole: Figure, part: Figure, source: str) -> Figure:
    """``whole - part`` for independent figures."""
    return total((whole, part.scaled(-1.0)), source)


@frozen
class Unknown:
    """A figure that cannot be given, with the reason; JSON null beside ``reason``."""

    reason: str

    def to_json(self) -> dict[str, str | None]:
        return {"value": None, "reason": self.reason}


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
