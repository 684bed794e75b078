"""The knee of the curve: where more load costs more time than it gains in throughput.

The knee is the level with the greatest *power*, throughput over mean time in the system, that is where
a ray from the origin touches the curve of time against throughput: below it, a per cent more load costs less
than a per cent more time; above it, more (L. Kleinrock, Power and Deterministic Rules of Thumb for
Probabilistic Problems in Computer Communications, ICC 1979). It needs no threshold and does not depend
on how far the curve is drawn. Of a queue M/M/1 it is at half of saturation, of M/D/1 at 2 - sqrt(2).
"""

from math import sqrt
from typing import Final

from vramledger.frozen import frozen
from vramledger.methods.knee.probes import Point, Probes
from vramledger.methods.subject import Figures

_SPREAD: Final = (0.125, 0.25, 0.5, 0.7, 0.85, 1.0, 1.15, 1.4)
_NEAR: Final = 0.06  # as a share of a level: a point so close stands for it
_NEXT: Final = 0.05  # as a share of a level: nearer points are no neighbours
_MOST_MORE: Final = 4  # levels beyond the spread, each twice or half the last
_REFINED: Final = 2  # times that the levels around the greatest power are halved
_CLOSE: Final = 1.1  # ratio of neighbours that are not halved: one draw each tells no more


@frozen
class CurveKnee:
    """The level of the greatest power, and those next to it by 5 % or more; None at an edge of the curve."""

    point: Point
    below: Point | None
    above: Point | None


def power(figures: Figures) -> float | None:
    """Answered requests a second over their mean seconds; None where nothing was answered."""
    seconds = figures.e2e_mean_s
    return figures.answered_per_s / seconds if seconds else None


def drawn(probes: Probes, around: float) -> CurveKnee | None:
    """Play a curve of levels around one, and find its knee; None where nothing is ever answered.

    Raises:
        VramError: a level cannot be played.
    """
    for share in _SPREAD:
        level = around * share
        if not any(abs(point.level / level - 1) < _NEAR for point in probes.points):
            probes.first(probes.range.rounded(level))
    for _ in range(_MOST_MORE):
        knee = greatest(probes.points)
        if knee is None or not _extended(probes, knee):
            break
    for _ in range(_REFINED):
        _halved(probes, greatest(probes.points))
    return greatest(probes.points)


def greatest(points: tuple[Point, ...]) -> CurveKnee | None:
    """The knee of levels that were played; None where nothing was answered."""
    powers = [power(point.first.figures) or 0.0 for point in points]
    if not any(powers):
        return None
    top = points[powers.index(max(powers))]
    below = [point for point in points if point.level <= top.level * (1 - _NEXT)]
    above = [point for point in points if point.level >= top.level * (1 + _NEXT)]
    return CurveKnee(top, below[-1] if below else None, above[0] if above else None)


def _extended(probes: Probes, knee: CurveKnee) -> bool:
    """One more level on the side where the greatest power is the last; whether there was any."""
    if knee.below is not None and knee.above is not None:
        return False
    factor = 2.0 if knee.above is None else 0.5
    level = probes.range.rounded(knee.point.level * factor)
    if level == knee.point.level:
        return False
    probes.first(level)
    return True


def _halved(probes: Probes, knee: CurveKnee | None) -> None:
    if knee is None:
        return
    for other in (knee.below, knee.above):
        if other is not None and not 1 / _CLOSE < other.level / knee.point.level < _CLOSE:
            probes.first(probes.range.rounded(sqrt(knee.point.level * other.level)))
