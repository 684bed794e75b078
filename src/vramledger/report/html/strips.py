"""Plots that need no script: strips one below the other on one axis, drawn as SVG when the page is written.

Shapes stretch with the page, lines and text do not: every strip is an SVG of 1000 x 100 units without a fixed ratio, whose
strokes do not scale, and its numbers are text of the page beside it. So it is readable at any width, and when printed.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from math import inf, isfinite, isnan
from typing import Final

from vramledger.frozen import frozen
from vramledger.report.html.axes import Axis
from vramledger.report.html.palette import role_class
from vramledger.report.html.titled_table import Table

WIDE: Final = 1000.0
HIGH: Final = 100.0
Numbers = Sequence[float]


class Kind(StrEnum):
    """How a curve is drawn."""

    STEPS = "steps"  # `x` are edges, one more than `y`
    BAND = "band"  # likewise, from `low` to `y`
    BARS = "bars"  # likewise, from the axis to `y`
    LINE = "line"
    DOTS = "dots"
    MARKS = "marks"  # dots that are to be seen each by itself
    ACROSS = "across"  # one `y`, over the whole width
    UPRIGHT = "upright"  # one `x`, over the whole height


@frozen
class Curve:
    """One thing drawn in the colour of its role; NaN is a hole, what is infinite lies on the upper edge."""

    name: str
    role: str
    kind: Kind
    x: Numbers
    y: Numbers
    low: Numbers = ()
    dash: str = ""  # "", "dash" or "dot"
    listed: bool = True  # in the strip's key


@frozen
class Strip:
    """One plot of a chart, with its own upright axis."""

    title: str
    axis: Axis
    curves: tuple[Curve, ...]


@frozen
class Chart:
    """Strips on one lying axis. `caption` are finished sentences; `table` says the same in numbers."""

    id: str
    title: str
    caption: str
    x: Axis
    x_title: str
    strips: tuple[Strip, ...]
    table: Table
    height: int = 84  # pixels of a strip


@frozen
class Shape:
    """A curve as the template draws it; `path` is of SVG, `kind` and `role` are classes."""

    name: str
    kind: str
    role: str
    dash: str
    path: str
    listed: bool


def shapes(chart: Chart, strip: Strip) -> list[Shape]:
    """The curves of a strip, those that draw nothing left out."""
    found = [
        Shape(each.name, str(each.kind), role_class(each.role), each.dash, _path(chart.x, strip.axis, each), each.listed)
        for each in strip.curves
    ]  # fmt: skip
    return [each for each in found if each.path]


def _path(x: Axis, y: Axis, curve: Curve) -> str:
    if curve.kind is Kind.ACROSS:
        return f"M0 {_up(y, curve.y[0])}H{WIDE:.0f}"
    if curve.kind is Kind.UPRIGHT:
        return f"M{_along(x, curve.x[0])} 0V{HIGH:.0f}"
    if curve.kind is Kind.LINE:
        return _line(x, y, curve)
    if curve.kind in (Kind.DOTS, Kind.MARKS):
        points = zip(curve.x, curve.y, strict=True)
        return "".join(
            f"M{_along(x, at)} {_up(y, value)}h0" for at, value in points if not isnan(value)
        )
    if curve.kind is Kind.STEPS:
        return "".join(_steps(x, y, run.edges, run.y, "M") for run in _runs(curve))
    return "".join(_area(x, y, run) for run in _runs(curve))


@frozen
class _Run:
    """Bins one after another without a hole."""

    edges: Numbers
    y: Numbers
    low: Numbers


def _runs(curve: Curve) -> Iterable[_Run]:
    """The parts between holes."""
    low = curve.low or [-inf] * len(curve.y)
    begin: int | None = None
    for place in range(len(curve.y) + 1):
        hole = place == len(curve.y) or isnan(curve.y[place]) or isnan(low[place])
        if not hole and begin is None:
            begin = place
        if hole and begin is not None:
            yield _Run(curve.x[begin : place + 1], curve.y[begin:place], low[begin:place])
            begin = None


def _steps(x: Axis, y: Axis, edges: Numbers, values: Numbers, start: str) -> str:
    """Left to right; bins of the same height are one line."""
    heights = [_up(y, value) for value in values]
    found = [f"{start}{_along(x, edges[0])} {heights[0]}"]
    found += [
        f"H{_along(x, edges[place])}V{heights[place]}"
        for place in range(1, len(heights))
        if heights[place] != heights[place - 1]
    ]
    return "".join([*found, f"H{_along(x, edges[-1])}"])


def _area(x: Axis, y: Axis, run: _Run) -> str:
    """Out on the upper edge and back on the lower one; nothing where it is empty throughout."""
    lows = [max(low, y.low) for low in run.low]
    if all(value <= low for value, low in zip(run.y, lows, strict=True)):
        return ""
    return (
        _steps(x, y, run.edges, run.y, "M") + _steps(x, y, run.edges[::-1], lows[::-1], "L") + "Z"
    )


def _line(x: Axis, y: Axis, curve: Curve) -> str:
    """Points that are joined; it begins anew after a hole."""
    found, start = [], "M"
    for at, value in zip(curve.x, curve.y, strict=True):
        if isnan(at) or isnan(value) or not isfinite(at):
            start = "M"
            continue
        found.append(f"{start}{_along(x, at)} {_up(y, value)}")
        start = "L"
    return "".join(found)


def _along(axis: Axis, value: float) -> str:
    return _short(axis.place(value) * WIDE)


def _up(axis: Axis, value: float) -> str:
    return _short((1.0 - axis.place(value)) * HIGH)


def _short(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
