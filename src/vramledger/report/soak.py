"""A soak on a terminal."""

from collections.abc import Iterator
from typing import Final

from vramledger.methods.soak.growth import Growth, Standing
from vramledger.methods.soak.soak import RAMPS, Soak
from vramledger.report.number import duration, share
from vramledger.report.table import table
from vramledger.units import GIB, format_seconds

VERDICTS: Final = {
    Standing.HOLDS: "HOLDS",
    Standing.GROWS: "GROWS",
    Standing.OPEN: "INCONCLUSIVE",
}
GROWTH_HEAD: Final = ("figure", "mean", "growth over the soak", "95 %", "a day", "p (Holm)", "")
_MIB: Final = GIB / 1024


def soak_text(found: Soak) -> str:
    """The answer as lines of text."""
    verdict = "STOPPED" if found.interrupted else VERDICTS[found.standing]
    lines = [f"{verdict}: {' '.join(says(found))}", ""]
    rows = [growth_row(each) for each in found.growths]
    lines += table(GROWTH_HEAD, rows, frozenset({1, 2, 3, 4, 5})) if rows else []
    lines += [
        f"{name}  {ramp_said(level)}" for name, level in zip(RAMPS, found.safe_loads, strict=False)
    ]
    lines += ["", f"segments    {len(found.segments)}, in {found.folder}"]
    return "\n".join(lines)


def says(found: Soak) -> Iterator[str]:
    """The finding in sentences."""
    for each in found.growths:
        if each.standing is Standing.GROWS and each.trend is not None:
            yield (
                f"The {each.measure.title} grew by {amount(each, each.trend.grown)} (95 %: "
                f"{amount(each, each.trend.low * each.trend.span_s)} to {amount(each, each.trend.high * each.trend.span_s)}), which is "
                f"{amount(each, each.a_day or 0.0)} a day."
            )
    if found.restarts:
        yield f"The server restarted or was away in {found.restarts} of {len(found.segments)} segments."
    if found.safe_falls:
        first, last = ramp_said(found.safe_loads[0]), ramp_said(found.safe_loads[-1])
        yield f"The safe load fell: {first} at the start, {last} at the end."
    yield from _open(found)
    if found.standing is Standing.HOLDS:
        yield "Nothing that was looked at grew, and none can have grown by as much as would matter."


def _open(found: Soak) -> Iterator[str]:
    """What is not decided, and what would."""
    if found.halted:
        yield f"The soak ended early: {found.halted}"
    if found.interrupted:
        yield "It was stopped before its end; vram trial resume goes on."
    for each in found.growths:
        if each.standing is Standing.OPEN:
            longer = (
                ""
                if each.needs_s is None
                else f"; a soak of about {duration(each.needs_s)} would decide it"
            )
            yield f"The {each.measure.title} is not decided: {each.why}{longer}."
    if not any(each.measure.unit == "bytes" for each in found.growths):
        yield "Nothing tells the server's memory: run the soak on its machine, or give --metrics or --gpu-metrics."


def amount(found: Growth, value: float) -> str:
    """A growth in the figure's own unit."""
    unit = found.measure.unit
    if unit == "bytes":
        return f"{value / _MIB:,.2f} MiB" if abs(value) < GIB else f"{value / GIB:,.2f} GiB"
    if unit == "s":
        return f"{'-' if value < 0 else ''}{format_seconds(abs(value))}"
    return share(value)


def ramp_said(level: float | None) -> str:
    """``12 in flight safe``."""
    return "no load safe" if level is None else f"{level:g} in flight safe"


def growth_row(each: Growth) -> tuple[str, ...]:
    """A figure with its growth, the interval, and what is said of it."""
    found = each.trend
    if found is None or each.p is None:
        return (each.measure.title, "-", "-", "-", "-", "-", str(each.standing))
    ends = (amount(each, end * found.span_s) for end in (found.low, found.high))
    return (
        each.measure.title,
        amount(each, found.mean),
        amount(each, found.grown),
        " to ".join(ends),
        amount(each, each.a_day or 0.0),
        f"{each.p:.2g}",
        str(each.standing),
    )
