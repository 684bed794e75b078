"""Axes: where a value lies between two ends, and which values are written beside it."""

from collections.abc import Callable, Iterable
from math import ceil, floor, inf, isfinite, log10
from typing import Final

from vramledger.frozen import frozen
from vramledger.units import format_seconds

_ROUND: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_TIMES: Final = (
    (3600.0, "hours", (0.25, 0.5, 1, 2, 3, 4, 6, 8, 12, 24, 48, 72, 168)),
    (60.0, "minutes", (0.25, 0.5, 1, 2, 5, 10, 15, 20, 30, 60)),
    (1.0, "seconds", (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60)),
)  # fmt: skip


@frozen
class Tick:
    """A value that is written: `place` is 0 at the lower end and 1 at the upper one."""

    place: float
    label: str


@frozen
class Axis:
    """From `low` to `high`; what lies outside is at the end that is nearer."""

    low: float
    high: float
    ticks: tuple[Tick, ...]
    is_log: bool = False
    unit: str = ""

    def place(self, value: float) -> float:
        """Where a value lies, 0..1."""
        return _place(value, self.low, self.high, is_log=self.is_log)


def _place(value: float, low: float, high: float, *, is_log: bool) -> float:
    if value <= low:
        return 0.0
    if value >= high:
        return 1.0
    if is_log:
        return (log10(value) - log10(low)) / (log10(high) - log10(low))
    return (value - low) / (high - low)


def counted(values: Iterable[float], form: Callable[[float], str], least: float = 1.0) -> Axis:
    """From 0 to a round number at or above the greatest of `values`, `least` or more."""
    most = max((value for value in values if isfinite(value)), default=0.0)
    step = _step(max(most, least) / 3)
    high = step * max(ceil(max(most, least) / step - 1e-9), 1)
    return _even(0.0, high, step, form)


def around(values: Iterable[float], form: Callable[[float], str], least: float) -> Axis:
    """From a round number below all finite `values` to one above, not from 0; `least` or more between the two."""
    known = [value for value in values if isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.0, 0.0)
    wanting = max(least - (high - low), 0.0) / 2
    low, high = low - wanting, high + wanting
    if not high > low:
        low, high = low - 0.5, high + 0.5
    step = _step((high - low) / 2)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return _even(first * step, last * step, step, form)


def numbers(count: int, most: int = 12) -> Axis:
    """1 to `count`, each in the middle of its place; not all are written where they are many."""
    every = max(ceil(count / most), 1)
    ticks = tuple(Tick((n - 0.5) / count, str(n)) for n in range(1, count + 1, every))
    return Axis(0.5, count + 0.5, ticks)


def shares() -> Axis:
    """From 0 to 100 %."""
    return _even(0.0, 1.0, 0.5, lambda value: f"{value:.0%}")


def seconds_log(values: Iterable[float]) -> Axis:
    """Powers of ten around all `values` that are finite and above zero."""
    known = [value for value in values if isfinite(value) and value > 0]
    low, high = (min(known), max(known)) if known else (0.1, 10.0)
    first, last = floor(log10(low) + 1e-9), ceil(log10(high) - 1e-9)
    last = max(last, first + 1)
    every = max(ceil((last - first) / 5), 1)
    powers = range(first, last + 1)
    ticks = tuple(
        Tick(_place(10.0**power, 10.0**first, 10.0**last, is_log=True), _round_seconds(10.0**power))
        for power in powers
        if (last - power) % every == 0
    )
    return Axis(10.0**first, 10.0**last, ticks, is_log=True)


def clock(from_s: float, to_s: float) -> Axis:
    """A time in the run, in seconds, minutes or hours; `unit` says in which."""
    span = max(to_s - from_s, 1e-3)
    scale, unit, steps = next((row for row in _TIMES if span >= 3 * row[0]), _TIMES[-1])
    step = next((each for each in steps if span / scale / each <= 7), span / scale / 6)
    first = ceil(from_s / scale / step - 1e-9)
    ticks = []
    while first * step * scale <= to_s * (1 + 1e-12):
        at = first * step
        ticks.append(Tick((at * scale - from_s) / span, f"{at:,.3f}".rstrip("0").rstrip(".")))
        first += 1
    return Axis(from_s, from_s + span, tuple(ticks), unit=unit)


def _step(least: float) -> float:
    """The round number at or above."""
    power = 10.0 ** floor(log10(least))
    return next(round_ * power for round_ in _ROUND if round_ * power >= least * (1 - 1e-9))


def _even(low: float, high: float, step: float, form: Callable[[float], str]) -> Axis:
    count = max(round((high - low) / step), 1)
    every = 1 if count <= 4 else 2
    ticks = tuple(
        Tick(number / count, form(low + number * step)) for number in range(0, count + 1, every)
    )
    return Axis(low, high, ticks)


def _round_seconds(value: float) -> str:
    """A power of ten: 10 us, 100 ms, 1 s, 1,000 s."""
    if value >= 1:
        return f"{value:,.0f} s"
    return format_seconds(value).replace(".0 ", " ") if value != inf else "inf"
