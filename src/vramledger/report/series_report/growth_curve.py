"""A plot of a soak: every figure that could grow, segment by segment, with its slope."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import isnan, nan
from typing import Final

from vramledger.frozen import frozen
from vramledger.methods.soak.growth import Growth, Measure, settled
from vramledger.methods.soak.segment import Segment
from vramledger.report.html.axes import around, clock
from vramledger.report.html.strips import Chart, Curve, Kind, Strip
from vramledger.report.html.titled_table import Table
from vramledger.report.number import duration, share
from vramledger.units import GIB, format_seconds

_ROLE: Final = {"bytes": "input", "s": "output", "0..1": "input + output"}
_MIB: Final = float(1 << 20)
_LARGE: Final = 8 * GIB  # bytes from which on they are told in GiB
_AROUND: Final = 0.02  # of the time, left free at both ends


@frozen
class _Shown:
    """How a figure is drawn: divided by `scale`, written by `form`, with `unit` in its title."""

    scale: float
    form: Callable[[float], str]
    unit: str = ""


def growth_curve(key: str, segments: Sequence[Segment], found: Sequence[Growth]) -> Chart:
    """A strip for each figure that is told; times are from the end of the first segment."""
    begin = segments[0].t_s
    free = _AROUND * (segments[-1].t_s - begin)
    x = clock(-free, segments[-1].t_s - begin + free)
    return Chart(
        f"{key}-growth",
        "What could grow, segment by segment",
        "A dot is a segment. The line is its slope, dotted are the ends of the slope's 95 %. Axes do not begin at 0: each spans at least as much as would matter, so what "
        "looks steep may be little.",
        x,
        f"{x.unit} since the first segment ended",
        tuple(_strip(each, segments, begin) for each in found),
        _table(segments, found, begin),
        height=110,
    )  # fmt: skip


def _strip(found: Growth, segments: Sequence[Segment], begin: float) -> Strip:
    measure, role = found.measure, _ROLE[found.measure.unit]
    at = [each.t_s - begin for each in segments]
    values = [_number(measure, each) for each in segments]
    known = [value for value in values if not isnan(value)]
    mean = sum(known) / len(known) if known else 0.0
    least = max(measure.matters * (1.0 if measure.absolute else abs(mean)), measure.least)
    shown = _shown(measure, mean)
    curves = (Curve(str(found.standing), role, Kind.MARKS, at, values), *_slopes(found, segments, begin))  # fmt: skip
    drawn = tuple(_scaled(each, shown.scale) for each in curves)
    heights = (value for curve in drawn for value in curve.y)
    return Strip(f"{measure.title}{shown.unit}", around(heights, shown.form, least / shown.scale), drawn)  # fmt: skip


def _shown(measure: Measure, mean: float) -> _Shown:
    if measure.unit != "bytes":
        return _Shown(1.0, format_seconds if measure.unit == "s" else share)
    scale, unit = (GIB, "GiB") if mean >= _LARGE else (_MIB, "MiB")
    return _Shown(float(scale), lambda value: f"{value:,.6g}", f", {unit}")


def _scaled(curve: Curve, scale: float) -> Curve:
    return replace(curve, y=[value / scale for value in curve.y])


def _slopes(found: Growth, segments: Sequence[Segment], begin: float) -> Iterator[Curve]:
    """Through the middle of the segments that were tested."""
    told = found.trend
    if told is None:
        return
    times = [each.t_s - begin for each in settled(segments) if found.measure.of(each) is not None]
    middle, ends = sum(times) / len(times), [times[0], times[-1]]
    for name, slope, dash in (("slope", told.slope, ""), ("95 %", told.low, "dot"), ("", told.high, "dot")):  # fmt: skip
        y = [told.mean + slope * (at - middle) for at in ends]
        yield Curve(name, "limit", Kind.LINE, ends, y, dash=dash, listed=bool(name))


def _number(measure: Measure, segment: Segment) -> float:
    value = measure.of(segment)
    return nan if value is None else value


def _table(segments: Sequence[Segment], found: Sequence[Growth], begin: float) -> Table:
    rows = tuple((duration(each.t_s - begin), *(_cell(growth.measure, each) for growth in found)) for each in segments)  # fmt: skip
    head = ("ended after", *(each.measure.title for each in found))
    return Table("What could grow", head, rows, frozenset(range(1, len(head))))


def _cell(measure: Measure, segment: Segment) -> str:
    value = measure.of(segment)
    if value is None:
        return "-"
    shown = _shown(measure, value)
    return f"{shown.form(value / shown.scale)}{shown.unit.replace(',', '')}"
