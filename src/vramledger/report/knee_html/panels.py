"""The panels of the figure: a line of the contract each, then times, answers and the KV cache."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from vramledger.frozen import frozen
from vramledger.methods.knee.probes import Point
from vramledger.methods.simulated.knee import Side
from vramledger.methods.subject import Axis, Check, Figures
from vramledger.report.html.series import line, positive, series
from vramledger.report.knee_html.markers import load

_Value = Callable[[Figures], float | None]
_NAN: Final = float("nan")
_OWN: Final = frozenset({"kv_p99", "preemptions"})  # amounts that are no panel of their own
_TIMES: Final[tuple[tuple[str, str, _Value], ...]] = (
    ("TTFT p50", "grid", lambda seen: seen.ttft_p50_s),
    ("TTFT p95", "input", lambda seen: seen.ttft_p95_s),
    ("E2E p95", "output", lambda seen: seen.e2e_p95_s),
)
_TITLES: Final = {"success": "success", "requests_per_hour": "good requests/h"}
_SCALES: Final[dict[str, dict[str, Any]]] = {
    "success": {"tickformat": ".2%"},
    "requests_per_hour": {"rangemode": "tozero"},
}
_SECONDS: Final = "_s"  # the end of a name in seconds


@frozen
class Panel:
    """One row of the figure: its curves, the limits in it, and what its axis is like."""

    title: str
    curves: tuple[dict[str, Any], ...]
    limits: tuple[tuple[str, float], ...]
    axis: dict[str, Any]


def panels_of(axis: Axis, side: Side, points: Sequence[Point]) -> Iterator[Panel]:
    """From top to bottom; `points` are those at the expected step times, rising."""
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
        (
            _curve("KV use p99", "input", x, kv, "%{y:.1%}"),
            _curve(
                "most with headroom",
                "limit",
                x,
                series(_most_safe(point) for point in points),
                "%{y:.1%}",
                "dash",
            ),
        ),
        (),
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
    title = f"{amount.name.removesuffix(_SECONDS)} (s)" if in_seconds else _TITLES[amount.name]
    scale = {"type": "log"} if in_seconds else _SCALES[amount.name]
    return Panel(title, curves, ((check.asked, amount.threshold),), scale)


def _amounts(points: Sequence[Point], asked: str) -> list[float]:
    found = (
        next((check.amount for check in point.first.contract if check.asked == asked), None)
        for point in points
    )
    return [_NAN if amount is None else amount.value for amount in found]


def _most_safe(point: Point) -> float:
    """The use of the KV cache that leaves the headroom; where few are in flight, by how many they are."""
    amounts = (check.amount for check in point.first.headroom)
    return next((each.threshold for each in amounts if each and each.name == "kv_p99"), _NAN)


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
