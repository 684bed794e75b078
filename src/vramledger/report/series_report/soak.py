"""The report of a soak: what grew over it, and how far the server could be pushed then and now."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.methods.ramp.kept import SOAK, read_kept
from vramledger.methods.soak.growth import Growth, Standing, growths
from vramledger.methods.soak.segment import Segment
from vramledger.methods.soak.soak import RAMPS, Soak
from vramledger.report.html.titled_table import Table
from vramledger.report.number import duration, share
from vramledger.report.run_report.model import RuledLine, Ruling, Verdict, whole
from vramledger.report.series_report.growth_curve import growth_curve
from vramledger.report.series_report.members import (
    Members,
    deployment_table,
    in_few,
    member_table,
    members_of,
    tables,
)
from vramledger.report.series_report.model import Kind, SeriesReport
from vramledger.report.soak import GROWTH_HEAD, amount, growth_row, ramp_said, says
from vramledger.units import GIB, format_seconds

_STANDINGS: Final = {
    Standing.HOLDS: Verdict.PASS,
    Standing.GROWS: Verdict.FAIL,
    Standing.OPEN: Verdict.INCONCLUSIVE,
}
_NOT_OVER: Final = "it is not over; vram trial resume goes on."
_WHEN: Final = dict(zip(RAMPS, ("at the start", "in the middle", "at the end"), strict=True))
_SETTLING: Final = "The first tenth of the segments is left out of the tests, in which any server settles. p is Holm's, for all figures together."


def soak_report(folder: Path, key: str) -> SeriesReport:
    """From its record: the tests are made anew from its segments.

    Raises:
        BadInput: its record is damaged.
    """
    content = read_kept(folder, SOAK)
    try:
        return _report(folder, key, content)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise BadInput(
            f"{folder / SOAK.file} is not as vram wrote it; use an unchanged copy."
        ) from None


def _report(folder: Path, key: str, content: Mapping[str, Any]) -> SeriesReport:
    segments = tuple(Segment.from_json(each) for each in content["segments"])
    found = growths(segments)
    told = content["result"]
    if told is None:
        so_far = Soak(folder, segments, found, (), 0.0, _NOT_OVER)
        told = _unfinished(so_far)
    members = members_of(folder)
    numbers = {each.folder: f"segment {place}" for place, each in enumerate(segments, 1)}
    return SeriesReport(
        key=key,
        name=folder.resolve().name,
        kind=Kind.SOAK,
        rulings=(_ruling(told, found, len(segments)),),
        says=(str(told["says"]),),
        charts=(growth_curve(key, segments, found),) if found else (),
        tables=tables(*_tables(told, segments, found), *_of_members(members, numbers, folder)),
        document=told,
        origins=members.origins,
        words=members.words,
        open_points=(*_open(told, segments, found), *members.refused, *members.unsound),
    )


def _unfinished(found: Soak) -> Mapping[str, Any]:
    from vramledger.report.soak_json import soak_json

    return soak_json(found) | {"says": " ".join(says(found))}


def _ruling(told: Mapping[str, Any], found: Sequence[Growth], segments: int) -> Ruling:
    lines = (*map(_line, found), _restarts(told, segments), *_safe(told))
    early = told["ended_early"] or told["stopped"] or not found
    why = str(told["says"]) if early else ""
    verdict = whole([each.verdict for each in lines])
    if verdict is Verdict.PASS and told["verdict"] != "HOLDS":
        verdict, why = Verdict.INCONCLUSIVE, str(told["says"])
    return Ruling(verdict, lines, why)


def _line(found: Growth) -> RuledLine:
    trend = found.trend
    settles = "" if found.needs_s is None else f"a soak of about {duration(found.needs_s)}"
    name = f"no growth: {found.measure.title}"
    if trend is None:
        return RuledLine(name, _STANDINGS[found.standing], "", reason=found.why, settles=settles)
    scale, unit = _SCALES.get(found.measure.unit, (1.0, found.measure.unit))
    return RuledLine(
        name,
        _STANDINGS[found.standing],
        amount(found, trend.grown),
        unit=unit,
        value=trend.grown / scale,
        low=trend.low * trend.span_s / scale,
        high=trend.high * trend.span_s / scale,
        reason=found.why,
        settles=settles,
        records=(SOAK.file,),
    )


_SCALES: Final = {"bytes": (GIB / 1024, "MiB")}


def _restarts(told: Mapping[str, Any], segments: int) -> RuledLine:
    count = int(told["restarts"])
    verdict = Verdict.FAIL if count else Verdict.PASS
    found = f"in {count} of {segments} segments it was another process, or away" if count else "it stayed"  # fmt: skip
    return RuledLine("the server does not restart", verdict, found, records=(SOAK.file,))


def _safe(told: Mapping[str, Any]) -> Iterator[RuledLine]:
    """Where ramps were made."""
    loads = told["safe_loads"]
    if not loads:
        return
    falls = told["safe_load_falls"]
    verdict = {True: Verdict.FAIL, False: Verdict.PASS, None: Verdict.INCONCLUSIVE}[falls]
    reason = "" if falls is not None else "the ramps cannot be compared"
    found = f"{ramp_said(loads[0])} then, {ramp_said(loads[-1])} now"
    yield RuledLine("the safe load does not fall", verdict, found, reason=reason)


def _tables(
    told: Mapping[str, Any], segments: Sequence[Segment], found: Sequence[Growth]
) -> Iterator[Table]:
    if found:
        rows = tuple(map(growth_row, found))
        yield Table("Growth over the soak", GROWTH_HEAD, rows, frozenset({1, 2, 3, 4, 5}), (_SETTLING,))  # fmt: skip
    if told["safe_loads"]:
        then = tuple((_WHEN[name], ramp_said(level)) for name, level in zip(RAMPS, told["safe_loads"], strict=False))  # fmt: skip
        yield Table("Safe concurrency, then and now", ("ramp", "safe load"), then)
    if segments:
        yield _segments(segments)


def _segments(segments: Sequence[Segment]) -> Table:
    begin = segments[0].t_s
    rows = tuple(
        (
            each.folder, duration(each.t_s - begin), f"{each.requests:,}", f"{each.ok:,}",
            *(_cell(value, format_seconds) for value in (each.ttft_p50_s, each.e2e_p50_s)),
            *(_cell(value, _gib) for value in (each.process_bytes, each.gpu_bytes)),
            _cell(each.idle_kv_usage, share), "yes" if each.restarted else "",
        )
        for each in segments
    )  # fmt: skip
    head = ("segment", "ended after", "offered", "ok", "TTFT p50", "E2E p50", "processes, GiB", "GPU, GiB", "KV idle", "restarted")  # fmt: skip
    return Table("Segments", head, rows, frozenset(range(1, 9)), ("Memory of processes and KV blocks are those of the idle server after the segment.",))  # fmt: skip


def _cell(value: float | None, say: Any) -> str:
    return "-" if value is None else str(say(value))


def _gib(value: float) -> str:
    return f"{value / GIB:,.3f}"


def _of_members(members: Members, told: Mapping[str, str], folder: Path) -> Iterator[Table]:
    yield member_table(members, "part", told, folder)
    deployment = deployment_table(members)
    if deployment is not None:
        yield deployment


def _open(
    told: Mapping[str, Any], segments: Sequence[Segment], found: Sequence[Growth]
) -> Iterator[str]:
    if told["ended_early"]:
        yield f"The soak ended early: {told['ended_early']}"
    kept = {each["name"]: each["standing"] for each in told["growths"]}
    now = {each.measure.name: str(each.standing) for each in found}
    if kept != now:
        yield f"{SOAK.file} says otherwise of its growths than its own segments do; the tables are of the segments."
    against = [(each.folder, said) for each in segments for said in each.inconclusive]
    yield from in_few(against, len(segments), "segments")
