"""Service against load: a panel for each line of the contract, its limit in it, and where the goals end in all."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.methods.knee.probes import Point
from vramledger.methods.simulated.knee import Side, SimulatedKnee
from vramledger.methods.subject import Axis, Check, Figures
from vramledger.report.html.figure import Figure
from vramledger.report.html.series import across, line, positive, series
from vramledger.report.html.titled_table import Table
from vramledger.report.knee import hits_said
from vramledger.report.knee_html.markers import Marker, load, markers
from vramledger.report.knee_table import BROKEN, curve

_Value = Callable[[Figures], float | None]
_NAN: Final = float("nan")
_GAP: Final = 0.05  # of the height, between panels
_PANEL: Final = 190  # pixels
_OWN: Final = frozenset({"kv_p99", "preemptions"})  # amounts that are no panel of their own
_TIMES: Final[tuple[tuple[str, str, _Value], ...]] = (
    ("TTFT p50", "grid", lambda seen: seen.ttft_p50_s),
    ("TTFT p95", "input", lambda seen: seen.ttft_p95_s),
    ("E2E p95", "output", lambda seen: seen.e2e_p95_s),
)
_SECONDS: Final = "_s"  # the end of a name in seconds


@frozen
class Panel:
    """One row of the figure: its curves, the limits in it, and what its axis is like."""

    title: str
    curves: tuple[dict[str, Any], ...]
    limits: tuple[tuple[str, float], ...]
    axis: dict[str, Any]


def knee_figure(found: SimulatedKnee, side: Side) -> Figure:
    """The figure of a side that was searched, with the table of its loads."""
    points = sorted(side.points, key=lambda point: load(found.axis, point))
    panels = list(_panels(found.axis, side, points))
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


def _panels(axis: Axis, side: Side, points: Sequence[Point]) -> Iterator[Panel]:
    slow = sorted(
        () if side.slow is None else side.slow.points, key=lambda point: load(axis, point)
    )
    x = series(load(axis, point) for point in points)
    for check in _numbered(points):
        yield _of_line(axis, check, points, slow)
    times = tuple(
        _curve(name, role, x, positive(_values(points, of)), "%{y:.4g} s")
        for name, role, of in _TIMES
    )
    yield Panel("seconds", times, (), {"type": "log"})
    answered = series(_values(points, lambda seen: seen.answered_per_s))
    yield Panel(
        "answered/s",
        (_curve("answered", "input + output", x, answered, "%{y:.4g}/s"),),
        (),
        {"rangemode": "tozero"},
    )
    kv = series(_values(points, lambda seen: seen.kv_p99))
    yield Panel(
        "KV use p99",
        (_curve("KV use p99", "input", x, kv, "%{y:.1%}"),),
        tuple(_headroom(points)),
        {"tickformat": ".0%", "range": [0, 1.02]},
    )


def _numbered(points: Sequence[Point]) -> list[Check]:
    """The lines of the contract that are numbers, each once."""
    found = {check.asked: check for point in points for check in point.first.contract}
    return [
        check
        for check in found.values()
        if check.amount is not None and check.amount.name not in _OWN
    ]


def _of_line(axis: Axis, check: Check, points: Sequence[Point], slow: Sequence[Point]) -> Panel:
    """What was found of one line at each load, and its threshold."""
    amount = check.amount
    assert amount is not None  # noqa: S101 - `_numbered` chose it
    in_seconds = amount.name.endswith(_SECONDS)
    shape = positive if in_seconds else series
    curves = tuple(
        _curve(
            f"{check.asked.split(' <= ')[0].split(' >= ')[0]}{said}",
            role,
            series(load(axis, point) for point in played),
            shape(_amounts(played, check.asked)),
            "%{y:.4g} s" if in_seconds else "%{y:.4g}",
            dash,
        )
        for said, role, dash, played in (
            ("", "output", "solid", points),
            (", slow end", "output", "dot", slow),
        )
        if played
    )
    unit = f"{amount.name.removesuffix(_SECONDS)} (s)" if in_seconds else amount.name
    kind = {"type": "log"} if in_seconds else {"rangemode": "tozero"}
    return Panel(unit, curves, ((check.asked, amount.threshold),), kind)


def _amounts(points: Sequence[Point], asked: str) -> list[float]:
    found = (
        next((check.amount for check in point.first.contract if check.asked == asked), None)
        for point in points
    )
    return [_NAN if amount is None else amount.value for amount in found]


def _headroom(points: Sequence[Point]) -> Iterator[tuple[str, float]]:
    """The strictest use of the KV cache that is safe at any load that was played."""
    limits = [
        check.amount.threshold
        for point in points
        for check in point.first.headroom
        if check.amount is not None and check.amount.name == "kv_p99"
    ]
    if limits:
        yield f"headroom: KV use p99 <= {min(limits):.1%}", min(limits)


def _values(points: Sequence[Point], of: _Value) -> list[float]:
    found = (of(point.first.figures) for point in points)
    return [_NAN if value is None else value for value in found]


def _curve(
    name: str,
    role: str,
    x: list[float | None],
    y: list[float | None],
    said: str,
    dash: str = "solid",
) -> dict[str, Any]:
    style = {"mode": "lines+markers", "marker": {"size": 4}, "line": {"dash": dash}}
    return line(name, role, x, y, said, **style)


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
