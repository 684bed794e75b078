"""A plot of a ramp: what was served at each load, the limits in it, and where the ends lie in all of it."""

from collections.abc import Callable, Iterator, Sequence
from math import isnan, nan
from typing import Final

from vramledger.frozen import frozen
from vramledger.methods.knee.probes import Point
from vramledger.methods.subject import Axis as LoadAxis
from vramledger.methods.subject import Check, Figures
from vramledger.report.html.axes import Axis, counted, seconds_log, shares
from vramledger.report.html.strips import Chart, Curve, Kind, Strip
from vramledger.report.html.titled_table import Table
from vramledger.report.knee_table import BROKEN, curve
from vramledger.report.number import rate

_Value = Callable[[Figures], float | None]
_OWN: Final = frozenset({"kv_p99", "preemptions"})  # which have strips of their own
_TIMES: Final[tuple[tuple[str, str, _Value], ...]] = (
    ("TTFT p50", "grid", lambda seen: seen.ttft_p50_s),
    ("TTFT p95", "input", lambda seen: seen.ttft_p95_s),
    ("E2E p95", "output", lambda seen: seen.e2e_p95_s),
)
_UNITS: Final = {
    LoadAxis.RATE: "factor on the workload's own arrivals",
    LoadAxis.CONCURRENCY: "requests in flight",
}


@frozen
class Ends:
    """The levels that were found; None where there is none."""

    safe: float | None
    contract: float | None
    knee: float | None


def load_curve(key: str, axis: LoadAxis, points: Sequence[Point], ends: Ends) -> Chart:
    """A strip for each number of the contract, then times, answers, the KV cache and preemptions; `points` rise."""
    x = counted((point.level for point in points), lambda value: f"{value:,g}", points[-1].level)
    upright = tuple(_upright(ends))
    strips = tuple(_strips(points))
    named = tuple(
        Strip(each.title, each.axis, (*each.curves, *(_in(place, line) for line in upright)))
        for place, each in enumerate(strips)
    )
    return Chart(
        f"{key}-load",
        "Service against load",
        "A dot is a load that was tried, with the figures of its first step. Upright lines are where the safe load, the contract and the curve's knee lie, dashed ones "
        "limits. What lies on the upper edge of a strip in seconds falls among failures.",
        x,
        _UNITS[axis],
        named,
        _table(axis, tuple(points)),
        height=110,
    )  # fmt: skip


def _in(place: int, line: Curve) -> Curve:
    """The key of the first strip names the lines of all."""
    return Curve(line.name, line.role, line.kind, line.x, line.y, dash=line.dash, listed=place == 0)


def _upright(ends: Ends) -> Iterator[Curve]:
    for name, role, dash, level in (
        ("safe load", "input + output", "", ends.safe),
        ("contract holds up to", "limit", "", ends.contract),
        ("knee", "compute", "dot", ends.knee),
    ):
        if level is not None:
            yield Curve(name, role, Kind.UPRIGHT, [level], [], dash=dash)


def _strips(points: Sequence[Point]) -> Iterator[Strip]:
    for check in _numbered(points):
        yield _of_line(check, points)
    found = [(name, role, _values(points, of)) for name, role, of in _TIMES]
    times = seconds_log(value for _, _, values in found for value in values)
    yield Strip("Latency", times, tuple(curve for name, role, values in found for curve in _curve(name, role, points, values)))  # fmt: skip
    answered = _values(points, lambda seen: seen.answered_per_s)
    top = max((value for value in answered if not isnan(value)), default=1.0)
    yield Strip("Answered a second", counted(answered, rate, max(top, 1e-6)), _curve("answered", "input + output", points, answered))  # fmt: skip
    usage = _values(points, lambda seen: seen.kv_p99)
    most = [_most_safe(point) for point in points]
    limit = Curve("most with headroom", "limit", Kind.LINE, _levels(points), most, dash="dash")
    yield Strip("KV cache in use, p99", shares(), (*_curve("p99", "input", points, usage), limit))
    if any(point.first.figures.preemptions is not None for point in points):
        preempted = _values(points, lambda seen: None if seen.preemptions is None else float(seen.preemptions))  # fmt: skip
        yield Strip("Preemptions", counted(preempted, lambda value: f"{value:,g}", 4.0), _curve("preempted", "output", points, preempted))  # fmt: skip


def _numbered(points: Sequence[Point]) -> list[Check]:
    """The lines of the contract that are numbers, each once."""
    found = {check.asked: check for point in points for check in point.first.contract}
    return [each for each in found.values() if each.amount is not None and each.amount.name not in _OWN]  # fmt: skip


def _of_line(check: Check, points: Sequence[Point]) -> Strip:
    amount = check.amount
    assert amount is not None  # noqa: S101 - `_numbered` chose it
    values = [_found(point, check.asked) for point in points]
    axis = _axis(amount.name, [*values, amount.threshold])
    limit = Curve("limit", "limit", Kind.ACROSS, (), [amount.threshold])
    return Strip(check.asked, axis, (*_curve("found", "output", points, values), limit))


def _axis(name: str, values: Sequence[float]) -> Axis:
    if name.endswith("_s"):
        return seconds_log(values)
    if name == "success":
        return shares()
    return counted(values, lambda value: f"{value:,g}")


def _found(point: Point, asked: str) -> float:
    amount = next((each.amount for each in point.first.contract if each.asked == asked), None)
    return nan if amount is None else amount.value


def _most_safe(point: Point) -> float:
    """The use of the KV cache that leaves the headroom; where few are in flight, by how many they are."""
    amounts = (check.amount for check in point.first.headroom)
    return next((each.threshold for each in amounts if each and each.name == "kv_p99"), nan)


def _values(points: Sequence[Point], of: _Value) -> list[float]:
    found = (of(point.first.figures) for point in points)
    return [nan if value is None else value for value in found]


def _levels(points: Sequence[Point]) -> list[float]:
    return [point.level for point in points]


def _curve(name: str, role: str, points: Sequence[Point], values: Sequence[float]) -> tuple[Curve, ...]:  # fmt: skip
    """Dots that are joined."""
    levels = _levels(points)
    return (
        Curve(name, role, Kind.LINE, levels, values),
        Curve(name, role, Kind.MARKS, levels, values, listed=False),
    )


def _table(axis: LoadAxis, points: tuple[Point, ...]) -> Table:
    found = curve(axis, points)
    return Table("The loads that were tried", found.head, tuple(found.rows), found.right, (BROKEN,))
