"""The report of a ramp: the safe load, what stopped it, the curve of service against load."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.methods.measured.subject import level_said
from vramledger.methods.ramp.kept import RAMP, read_kept
from vramledger.methods.subject import Axis
from vramledger.report.html.titled_table import Table
from vramledger.report.run_report.model import RuledLine, Ruling, Verdict
from vramledger.report.series_report.load_curve import Ends, load_curve
from vramledger.report.series_report.members import (
    deployment_table,
    in_few,
    member_table,
    members_of,
    tables,
)
from vramledger.report.series_report.model import Kind, SeriesReport
from vramledger.report.series_report.points import points_of

_VERDICTS: Final = {"HOLDS": Verdict.PASS, "DOES NOT HOLD": Verdict.FAIL}


def ramp_report(folder: Path, key: str) -> SeriesReport | None:
    """From its record and its steps; None while it is not over.

    Raises:
        BadInput: its record is damaged.
    """
    told = read_kept(folder, RAMP)["result"]
    if told is None:
        return None
    try:
        return _report(folder, key, told)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise BadInput(
            f"{folder / RAMP.file} is not as vram wrote it; use an unchanged copy."
        ) from None


def _report(folder: Path, key: str, told: Mapping[str, Any]) -> SeriesReport:
    axis = Axis(told["axis"])
    points = points_of(told, axis)
    ends = Ends(_level(told["safe_load"]["held"], axis), _level(told["last_safe"], axis), _level(told["knee"], axis))  # fmt: skip
    members = members_of(folder)
    levels = {str(each["run"]): level_said(float(each[axis]), axis) for each in told["steps"]}
    return SeriesReport(
        key=key,
        name=folder.resolve().name,
        kind=Kind.RAMP,
        rulings=(_ruling(told, axis, ends),),
        says=(str(told["says"]),),
        charts=(load_curve(key, axis, points, ends),) if points else (),
        tables=tables(
            _found(told, axis, ends),
            member_table(members, "load", levels, folder),
            deployment_table(members),
        ),
        document=told,
        origins=members.origins,
        words=members.words,
        open_points=(*_open(told), *members.refused, *members.unsound),
    )


def _level(end: Mapping[str, Any] | None, axis: Axis) -> float | None:
    found = None if end is None else end[axis]
    return None if found is None else float(found)


def _ruling(told: Mapping[str, Any], axis: Axis, ends: Ends) -> Ruling:
    asked = told["asked"]
    verdict = _verdict(told)
    name = "some load is safe" if asked is None else f"safe up to {level_said(asked, axis)} or more"
    line = RuledLine(
        name,
        verdict,
        _safe(ends, axis, verdict),
        value=ends.safe,
        threshold=asked,
        reason=str(told["stopped_says"]).removesuffix("."),
        settles=" ".join(told["unknown"]).removesuffix("."),
        records=(RAMP.file,),
    )
    return Ruling(verdict, (line,))


def _verdict(told: Mapping[str, Any]) -> Verdict:
    return _VERDICTS.get(told["verdict"], Verdict.INCONCLUSIVE)


def _safe(ends: Ends, axis: Axis, verdict: Verdict) -> str:
    if ends.safe is not None:
        return level_said(ends.safe, axis)
    return "not known" if verdict is Verdict.INCONCLUSIVE else "no load"


def _found(told: Mapping[str, Any], axis: Axis, ends: Ends) -> Table:
    rows = [
        ("safe load", _safe(ends, axis, _verdict(told)), str(told["safe_load"]["says"])),
        ("last safe by the contract", _said(ends.contract, axis), str(told["contract_limit"]["says"])),
        ("knee of the curve", _said(ends.knee, axis), str(told["knee"]["says"])),
        ("stopped by", str(told["stopped_by"]), str(told["stopped_says"])),
    ]  # fmt: skip
    if told["asked"] is not None:
        rows.append(("asked for", level_said(told["asked"], axis), ""))
    rows += [
        ("contract", "", "; ".join(told["contract"]) or "none"),
        ("safe load keeps beside it", "", "; ".join(told["headroom"]) or "nothing"),
    ]
    notes = (f"The ends are told to {told['tolerance']:.0%}.", *_predicted(told, axis))
    return Table("What the ramp found", ("", "at", ""), tuple(rows), notes=notes)


def _predicted(told: Mapping[str, Any], axis: Axis) -> Iterator[str]:
    found = told["prediction"]
    if found is None:
        return
    if found["level"] is None:
        yield f"There is no prediction: {found['why']}"
        return
    yield (
        f"The simulation expected a safe load up to {level_said(found['level'], axis)} ({found['basis']}), which is a place to start and no evidence."
    )
    yield from map(str, found["foreign"])


def _said(level: float | None, axis: Axis) -> str:
    return "none" if level is None else level_said(level, axis)


def _open(told: Mapping[str, Any]) -> Iterator[str]:
    yield from map(str, told["unknown"])
    against = [
        (str(step["run"]), str(said)) for step in told["steps"] for said in step["inconclusive"]
    ]
    yield from in_few(against, len(told["steps"]), "steps")
    notes = (str(note) for step in told["steps"] for note in step["notes"])
    yield from dict.fromkeys(notes)
