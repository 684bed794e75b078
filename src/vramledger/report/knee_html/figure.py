"""Service against load: a panel for each line of the contract, its limit in it, and where the goals end in all."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from vramledger.methods.knee.probes import Point
from vramledger.methods.simulated.knee import Side, SimulatedKnee
from vramledger.methods.subject import Axis
from vramledger.report.html.figure import Figure
from vramledger.report.html.series import across
from vramledger.report.html.titled_table import Table
from vramledger.report.knee import hits_said
from vramledger.report.knee_html.markers import Marker, load, markers
from vramledger.report.knee_html.panels import Panel, panels_of
from vramledger.report.knee_table import BROKEN, curve

_GAP: Final = 0.05  # of the height, between panels
_PANEL: Final = 190  # pixels


def knee_figure(found: SimulatedKnee, side: Side) -> Figure:
    """The figure of a side that was searched, with the table of its loads."""
    points = sorted(side.points, key=lambda point: load(found.axis, point))
    panels = list(panels_of(found.axis, side, points))
    marked = markers(found.axis, side)
    loads = curve(found.axis, side.points)
    return Figure(
        "knee-own" if side.hits else "knee-no-hits",
        f"Load against service, {hits_said(side)}",
        (
            "One panel for each line of the contract, with its limit dashed, and one for what is answered and "
            "how full the KV cache is; upright lines are where the goals end. Curves are at the expected step "
            "times, dotted ones at the slow end of their band. Points are the first draws of each load."
        ),
        tuple(_traces(found.axis, points, panels, marked)),
        _layout(found.axis, panels),
        Table(
            f"Loads that were played at the expected step times, {hits_said(side)}",
            loads.head,
            tuple(loads.rows),
            loads.right,
            (BROKEN,),
        ),
    )


def _traces(
    axis: Axis, points: Sequence[Point], panels: Sequence[Panel], marked: Sequence[Marker]
) -> Iterator[dict[str, Any]]:
    loads = [load(axis, point) for point in points]
    ends = (loads[0], loads[-1])
    for number, panel in enumerate(panels):
        row = {"xaxis": "x", "yaxis": _name("y", number)}
        yield from ({**each, **row} for each in panel.curves)
        yield from (across(said, "limit", ends, at, **row) for said, at in panel.limits)
        above = {"xaxis": "x", "yaxis": _name("y", number + len(panels))}
        for marker in marked:
            yield {**marker.trace(first=number == 0), **above}


def _name(letter: str, number: int) -> str:
    return letter if number == 0 else f"{letter}{number + 1}"


def _layout(axis: Axis, panels: Sequence[Panel]) -> dict[str, Any]:
    """Panels from top to bottom; over each lies an axis of its own from 0 to 1, for the upright lines."""
    unit = "requests in flight" if axis is Axis.CONCURRENCY else "requests offered a second"
    count = len(panels)
    high = (1 - _GAP * (count - 1)) / count
    layout: dict[str, Any] = {
        "height": _PANEL * count + 120,
        "hovermode": "x unified",
        "xaxis": {
            "title": {"text": f"{unit} (simulated)"},
            "anchor": _name("y", count - 1),
            "type": "log",
        },
    }
    for number, panel in enumerate(panels):
        top = 1 - number * (high + _GAP)
        layout[_name("yaxis", number)] = {
            "title": {"text": panel.title},
            "domain": [max(top - high, 0.0), top],
            **panel.axis,
        }
        layout[_name("yaxis", number + count)] = {
            "overlaying": _name("y", number),
            "range": [0, 1],
            "visible": False,
            "fixedrange": True,
        }
    return layout
