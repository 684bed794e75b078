"""Upright lines at the loads that were found, the same in every panel."""

from collections.abc import Iterator
from typing import Any

from vramledger.frozen import frozen
from vramledger.methods.knee.probes import Point
from vramledger.methods.simulated.knee import Side
from vramledger.methods.subject import Axis
from vramledger.report.html.series import line


@frozen
class Marker:
    """A load that was found: its place on the axis of loads, and how its line looks."""

    name: str
    role: str
    dash: str
    at: float

    def trace(self, *, first: bool) -> dict[str, Any]:
        """Its line from 0 to 1 of a panel; the first of all panels is in the legend."""
        return {
            **line(self.name, self.role, [self.at, self.at], [0, 1], ""),
            "line": {"dash": self.dash, "width": 2},
            "hoverinfo": "skip",
            "hovertemplate": None,
            "legendgroup": self.name,
            "showlegend": first,
        }


def load(axis: Axis, point: Point) -> float:
    """Where a point stands: requests a second, or in flight; the factor where there is no rate."""
    offered = point.first.figures.offered_per_s
    return point.level if axis is Axis.CONCURRENCY or offered is None else offered


def markers(axis: Axis, side: Side) -> list[Marker]:
    """Where contract and safe load end, at both ends of the step times, and where the curve bends."""
    return [
        Marker(name, role, dash, load(axis, point))
        for name, role, dash, point in _ends(side)
        if point is not None
    ]


def _ends(side: Side) -> Iterator[tuple[str, str, str, Point | None]]:
    knee = side.knee
    if knee is None:
        return
    yield ("contract holds up to", "limit", "solid", knee.contract.held)
    if side.slow is None or side.slow.limits is None:
        yield ("safe load", "input + output", "solid", knee.safe.held)
    else:
        yield ("contract, slow end", "limit", "dot", side.slow.limits.contract.held)
        yield (
            "safe load to decide by, slow end",
            "input + output",
            "solid",
            side.slow.limits.safe.held,
        )
    yield ("knee of the curve", "compute", "dot", None if knee.curve is None else knee.curve.point)
