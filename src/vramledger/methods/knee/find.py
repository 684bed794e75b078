"""Everything there is to find about the load of a subject: its limits, and the knee of its curve."""

from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.methods.knee.curve import CurveKnee, drawn
from vramledger.methods.knee.probes import Point, Probes
from vramledger.methods.knee.search import Limit, highest, rechecked
from vramledger.methods.subject import Goal

TOLERANCE: Final = 0.02
_COARSEST: Final = 1.0


@frozen
class Limits:
    """Where the goals end; `points` is every level that was played, rising."""

    contract: Limit
    safe: Limit
    points: tuple[Point, ...]


@frozen
class Knee:
    """`contract` and `safe` are ends of what the goals allow; `points` is every level, rising."""

    contract: Limit
    safe: Limit
    curve: CurveKnee | None
    points: tuple[Point, ...]


def find_knee(probes: Probes, tolerance: float = TOLERANCE) -> Knee:
    """The highest level that keeps the contract, the safe load, and the knee of the curve.

    Raises:
        BadInput: the tolerance is no share above 0.
        VramError: a level cannot be played.
    """
    limits = find_limits(probes, tolerance)
    curve = drawn(probes, _around(limits.contract, probes))
    contract = rechecked(probes, limits.contract, tolerance)
    safe = rechecked(probes, limits.safe, tolerance)
    return Knee(contract, safe, curve, probes.points)


def find_limits(probes: Probes, tolerance: float = TOLERANCE) -> Limits:
    """The same without the curve, which takes fewer plays.

    Raises:
        BadInput: the tolerance is no share above 0.
        VramError: a level cannot be played.
    """
    if not 0 < tolerance <= _COARSEST:
        raise BadInput(
            f"The tolerance is {tolerance:g}; it must be above 0 and up to {_COARSEST:g}."
        )
    contract = highest(probes, Goal.CONTRACT, tolerance)
    safe = highest(probes, Goal.SAFE, tolerance)
    contract = rechecked(probes, contract, tolerance)
    return Limits(contract, safe, probes.points)


def _around(limit: Limit, probes: Probes) -> float:
    """The level that the curve is drawn around: the end of the contract, else where service ends."""
    if limit.held is not None and limit.failed is not None:
        return limit.held.level
    return probes.range.guess or probes.range.start
