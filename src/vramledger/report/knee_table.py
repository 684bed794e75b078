"""The loads that were tried: a row each, with a column for every line of the contract."""

from collections.abc import Callable
from typing import Final

from vramledger.frozen import frozen
from vramledger.methods.knee.curve import power
from vramledger.methods.knee.probes import Point
from vramledger.methods.subject import Axis, Check, Figures, Goal, Observation, Verdict
from vramledger.report.number import rate, share
from vramledger.units import format_seconds

BROKEN: Final = (
    "! marks what broke; a number behind it counts the draws in which it did, where there were several. "
    "power is the requests answered a second over their mean E2E in seconds: it is highest where more load begins to "
    "buy delay rather than answers."
)
_VERDICTS: Final = {
    Verdict.HOLDS: "holds",
    Verdict.TOO_MUCH: "fails",
    Verdict.TOO_LITTLE: "too little",
    Verdict.UNCERTAIN: "uncertain",
    None: "",
}
_HEAD: Final = {Axis.RATE: "factor", Axis.CONCURRENCY: "in flight"}
_TTFT: Final = "TTFT p95"
_TIMES: Final[dict[str, Callable[[Figures], float | None]]] = {
    _TTFT: lambda seen: seen.ttft_p95_s,
    "E2E mean": lambda seen: seen.e2e_mean_s,
    "E2E p95": lambda seen: seen.e2e_p95_s,
}
_KV, _PREEMPTED = "kv_p99", "preemptions"  # amounts that have columns of their own


@frozen
class Curve:
    """The table: its head, its rows, and which columns are right-aligned."""

    head: tuple[str, ...]
    rows: list[tuple[str, ...]]
    right: frozenset[int]


def curve(axis: Axis, points: tuple[Point, ...]) -> Curve:
    """Figures of the first draw of each level; what broke is marked, in whichever draw it did."""
    lines = _lines(points)
    before = ("offered", "answered", "goodput/h")
    times = _times(points)
    after = (*times, "in system", "p99", "KV p99", "preempted", "power")
    numbers = (_HEAD[axis], *before, *lines, *after)
    head = (*numbers, "contract", "", "safe", "")
    right = frozenset({*range(len(numbers)), len(numbers), len(numbers) + 2})
    return Curve(head, [_row(point, lines, times) for point in points], right)


def _lines(points: tuple[Point, ...]) -> tuple[str, ...]:
    """The lines of the contract, in its order; those that only some loads show come last."""
    checks = (check for point in points for play in point.plays for check in play.contract)
    return tuple(dict.fromkeys(check.asked for check in checks if not _has_column(check)))


def _times(points: tuple[Point, ...]) -> tuple[str, ...]:
    """TTFT where no line of the contract shows it."""
    checks = (check for point in points for check in point.first.contract)
    shown = any(_is(check, "ttft_s") for check in checks)
    return tuple(name for name in _TIMES if not (shown and name == _TTFT))


def _has_column(check: Check) -> bool:
    return check.amount is not None and check.amount.name in (_KV, _PREEMPTED)


def _row(point: Point, lines: tuple[str, ...], times: tuple[str, ...]) -> tuple[str, ...]:
    seen = point.first.figures
    return (
        f"{point.level:,.10g}",
        _said(seen.offered_per_s, rate),
        rate(seen.answered_per_s),
        _said(seen.goodput_per_hour, _count),
        *(_line(point, asked) for asked in lines),
        *(_said(_TIMES[name](seen), format_seconds) for name in times),
        *_levels(point, seen),
        _said(power(seen), _power),
        *(cell for goal in Goal for cell in _judged(point, goal)),
    )


def _line(point: Point, asked: str) -> str:
    """What was found of one line."""
    found = next((check.found for check in point.first.contract if check.asked == asked), "")
    return f"{found}{_mark(point, lambda check: check.asked == asked)}"


def _levels(point: Point, seen: Figures) -> tuple[str, ...]:
    return (
        _said(seen.in_system_mean, _count),
        _said(seen.in_system_p99, _count),
        _said(seen.kv_p99, share) + _mark(point, lambda check: _is(check, _KV)),
        _said(seen.preemptions, _count) + _mark(point, lambda check: _is(check, _PREEMPTED)),
    )


def _is(check: Check, amount: str) -> bool:
    return check.amount is not None and check.amount.name == amount


def _mark(point: Point, is_it: Callable[[Check], bool]) -> str:
    """Empty where it broke in no draw."""
    broke = sum(_broke(play, is_it) for play in point.plays)
    if not broke:
        return ""
    return " !" if len(point.plays) == 1 else f" !{broke}"


def _broke(play: Observation, is_it: Callable[[Check], bool]) -> bool:
    return any(is_it(check) for check in play.failed(Goal.SAFE))


def _judged(point: Point, goal: Goal) -> tuple[str, str]:
    return f"{point.held(goal)} of {len(point.plays)}", _VERDICTS[point.verdict(goal)]


def _said(value: float | None, say: Callable[[float], str]) -> str:
    return "-" if value is None else say(value)


def _count(value: float) -> str:
    return f"{value:,.0f}"


def _power(value: float) -> str:
    return f"{value:.3g}"
