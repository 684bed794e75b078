"""A verdict for a terminal: the whole first, then scenario by scenario."""

from collections.abc import Iterator
from math import inf, isinf
from typing import Final

from vramledger.accept.origins import is_no_evidence
from vramledger.accept.verdict import Line, ScenarioVerdict, Verdict
from vramledger.printable import flat

_WORDS: Final = {"s": " s", "0..1": "", "": ""}


def verdict_text(found: Verdict) -> str:
    """All of it."""
    return "\n".join(_lines(found))


def _lines(found: Verdict) -> Iterator[str]:
    said = [line.said for line in found.lines]
    counts = ", ".join(f"{said.count(each)} {each}" for each in dict.fromkeys(said))
    yield f"{found.said}{_title(found)}: {flat(found.plan)}, {len(said)} lines ({counts}); intervals hold {found.level:.0%}"
    yield from (flat(each) for each in found.notes)
    for each in found.scenarios:
        yield ""
        yield from _scenario(each)


def _title(found: Verdict) -> str:
    """`` (SIMULATED)`` where nobody may sign for it."""
    return f" ({found.origin.upper()})" if found.origin and is_no_evidence(found.origin) else ""


def _scenario(found: ScenarioVerdict) -> Iterator[str]:
    origin = (
        "no run"
        if found.run is None
        else f"{found.run}, {found.origin}, {found.offered:,} requests offered"
    )
    yield flat(f"{found.name}: {found.said}  ({found.kind}; {origin})")
    for line in found.lines:
        yield flat(f"  {line.said!s:<13}  {line_text(line)}")
        if line.settles:
            yield flat(f"  {'':<13}    would settle it: {line.settles}")
    short = [each for each in found.reached if each.enough is False]
    if not short:
        told = [f"{each.name} {each.reached:,.4g} of {each.asked:,.4g}" for each in found.reached
                if each.asked is not None and each.reached is not None]  # fmt: skip
        if told:
            yield flat(f"  load reached of asked: {'; '.join(told)}")
    yield from _work(found)
    yield from _groups(found)
    yield from (flat(f"  {each}") for each in found.notes)


def _work(found: ScenarioVerdict) -> Iterator[str]:
    work = found.work
    if work.good_per_hour is None or work.good_low is None or work.good_high is None:
        return
    said = f"  goodput {work.good_per_hour:,.0f} requests an hour ({work.good_low:,.0f} to {work.good_high:,.0f})"
    if work.good_tokens_per_hour is not None:
        said += f", {work.good_tokens_per_hour:,.0f} output tokens an hour"
    if work.lost_share is not None:
        said += f"; {work.lost_share:.1%} of all tokens went to requests that did not count"
    yield said


def _groups(found: ScenarioVerdict) -> Iterator[str]:
    """Of a table with more than one row each."""
    kinds = [each.of for each in found.groups]
    for each in found.groups:
        if kinds.count(each.of) < 2:
            continue
        what = f"tenant {each.name}" if each.of == "tenant" else f"{each.name} {each.of} tokens"
        told = ", ".join(f"{name} {_seconds(value)}" for name, value in each.figures)
        yield flat(
            f"  {what}: {each.offered:,} offered, {each.ok:,} ok, {each.good:,} good; {told}"
        )


def _seconds(value: float | None) -> str:
    return "none" if value is None else shown(value, "s")


def line_text(line: Line) -> str:
    """``ttft_s p95 <= 2: 1.42 s (1.31 to 1.58)``."""
    if line.value is None:
        return f"{line.name}: {line.reason}" if line.reason else line.name
    said = f"{line.name}: {shown(line.value, line.unit)}"
    if line.low is not None and line.high is not None:
        said += f" ({interval(line.low, line.high, line.unit)})"
    return f"{said}; {line.reason}" if line.reason else said


def interval(low: float, high: float, unit: str) -> str:
    """Between two ends, of which either may be open, or lie among failures."""
    if low == inf:
        return "all of it among failures"
    if isinf(low) and isinf(high):
        return "no bounds"
    if isinf(high):
        return f"{shown(low, unit)} or more"
    return (
        f"{shown(high, unit)} or less"
        if isinf(low)
        else f"{shown(low, unit)} to {shown(high, unit)}"
    )


def shown(value: float, unit: str) -> str:
    """A figure in its unit; an open end is ``inf``."""
    if unit == "0..1":
        return f"{value:.2%}"
    figure = f"{value:,.4g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return f"{figure}{_WORDS.get(unit, f' {unit}')}"
