"""The knee: what service is like at every load that was played, and where the goals end."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from vramledger.methods.knee.probes import Point
from vramledger.methods.simulated.knee import Side, SimulatedKnee
from vramledger.methods.subject import Axis, Figures
from vramledger.report.html.figure import Figure
from vramledger.report.html.series import line, positive, series
from vramledger.report.html.titled_table import Table
from vramledger.report.knee import CURVE_RIGHT, curve_head, curve_rows
from vramledger.report.knee_words import knee_sentence, method, sentences

_Value = Callable[[Figures], float | None]
_TIMES: Final[tuple[tuple[str, str, _Value], ...]] = (
    ("TTFT p50", "grid", lambda seen: seen.ttft_p50_s),
    ("TTFT p95", "input", lambda seen: seen.ttft_p95_s),
    ("E2E p95", "output", lambda seen: seen.e2e_p95_s),
)
_DOMAINS: Final = {"yaxis": [0.56, 1.0], "yaxis2": [0.29, 0.52], "yaxis3": [0.0, 0.25]}
_NAN: Final = float("nan")


def knee_figures(found: SimulatedKnee) -> Iterator[Figure]:
    """A figure a side that was searched, the judged one first."""
    for side in found.sides:
        if side.points:
            yield _figure(found, side)


def _figure(found: SimulatedKnee, side: Side) -> Figure:
    hits = "with the workload's prefix hits" if side.hits else "without prefix hits"
    points = sorted(side.points, key=lambda point: _load(found.axis, point))
    return Figure(
        "knee-own" if side.hits else "knee-no-hits",
        f"Load against service, {hits}",
        " ".join((*_said(found, side), method(found.axis))),
        tuple(_traces(found.axis, side, points)),
        _layout(found.axis),
        Table(
            f"Loads that were played, {hits}",
            curve_head(found.axis),
            tuple(curve_rows(side.points)),
            CURVE_RIGHT,
        ),
    )


def _said(found: SimulatedKnee, side: Side) -> list[str]:
    """The findings in words."""
    if side.knee is None:
        return ["The search was stopped before its end."]
    limits = (side.knee.contract, side.knee.safe)
    told = [sentence for limit in limits for sentence in sentences(limit, found.axis)]
    return [*told, knee_sentence(side.knee.curve, found.axis)]


def _load(axis: Axis, point: Point) -> float:
    """Where a point stands: requests a second, or in flight; the factor where there is no rate."""
    offered = point.first.figures.offered_per_s
    return point.level if axis is Axis.CONCURRENCY or offered is None else offered


def _traces(axis: Axis, side: Side, points: list[Point]) -> Iterator[dict[str, Any]]:
    at = [_load(axis, point) for point in points]
    x = series(at)
    dots = {"mode": "lines+markers", "marker": {"size": 4}, "xaxis": "x"}
    for name, role, of in _TIMES:
        yield line(name, role, x, positive(_values(points, of)), "%{y:.4g} s", yaxis="y", **dots)
    answered = series(_values(points, lambda seen: seen.answered_per_s))
    yield line("answered", "input + output", x, answered, "%{y:.4g}/s", yaxis="y2", **dots)
    yield line("offered", "grid", x, x, "%{y:.4g}/s", yaxis="y2", xaxis="x", line={"dash": "dot"})
    kv = series(_values(points, lambda seen: seen.kv_p99))
    yield line("KV use p99", "input", x, kv, "%{y:.1%}", yaxis="y3", **dots)
    yield from _ends(axis, side)


def _ends(axis: Axis, side: Side) -> Iterator[dict[str, Any]]:
    """Vertical lines where the goals end and the curve bends, over the use of the KV cache."""
    knee = side.knee
    if knee is None:
        return
    bend = None if knee.curve is None else knee.curve.point
    for name, role, dash, point in (
        ("contract holds up to", "limit", "solid", knee.contract.held),
        ("safe load", "input + output", "dash", knee.safe.held),
        ("knee of the curve", "compute", "dot", bend),
    ):
        if point is not None:
            at = _load(axis, point)
            style = {"dash": dash, "width": 2}
            yield line(
                name,
                role,
                [at, at],
                [0, 1],
                f"{name} %{{x:.4g}}",
                line=style,
                yaxis="y3",
                xaxis="x",
            )


def _values(points: list[Point], of: _Value) -> list[float]:
    found = (of(point.first.figures) for point in points)
    return [_NAN if value is None else value for value in found]


def _layout(axis: Axis) -> dict[str, Any]:
    unit = "requests in flight" if axis is Axis.CONCURRENCY else "requests offered a second"
    return {
        "height": 700,
        "hovermode": "x unified",
        "xaxis": {"title": {"text": f"{unit} (simulated)"}, "anchor": "y3", "type": "log"},
        "yaxis": {"title": {"text": "seconds"}, "type": "log", "domain": _DOMAINS["yaxis"]},
        "yaxis2": {"title": {"text": "answered/s"}, "rangemode": "tozero", "domain": _DOMAINS["yaxis2"]},
        "yaxis3": {
            "title": {"text": "KV use p99"},
            "tickformat": ".0%",
            "range": [0, 1.02],
            "domain": _DOMAINS["yaxis3"],
        },
    }  # fmt: skip
