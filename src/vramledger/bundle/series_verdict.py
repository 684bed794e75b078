"""What a series comes to, made of its runs alone: the same when it is sealed and when it is checked.

Repetitions are pooled, with the variance between runs. A ramp finds the load that is safe, and decides no contract. A soak is held
against growth. What only its record tells (a server's levels at rest, its memory) is taken from there.
"""

from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.bundle.contents import Placed
from vramledger.bundle.series import RAMP, REPEAT, SOAK, PlacedSeries
from vramledger.errors import BadInput, VramError

if TYPE_CHECKING:
    from vramledger.methods.knee.search import Limit
    from vramledger.methods.repeated.result import Repeated, SideOf
    from vramledger.methods.soak.segment import Segment

PASS, FAIL, OPEN = "PASS", "FAIL", "INCONCLUSIVE"
_SAID: Final = {"holds": PASS, "fails": FAIL, "not decided": OPEN}
_GROWTH: Final = {"holds": PASS, "grows": FAIL, "not decided": OPEN}


def series_verdict(found: PlacedSeries, folder: Path) -> dict[str, Any]:
    """Its verdict, None of a ramp; with what it rests on, or why nothing follows."""
    about: dict[str, Any] = {"folder": found.folder, "kind": found.kind, "runs": len(found.runs)}
    try:
        return about | _OF_KIND[found.kind](found, folder / found.folder)
    except (VramError, KeyError, TypeError, ValueError, AttributeError) as error:
        why = str(error).replace(f"{folder}/", "") if isinstance(error, VramError) else None
        said = why or f"{found.kind}.json does not fit its runs"
        return about | {"verdict": OPEN, "reason": said}


def _repeated(found: PlacedSeries, place: Path) -> dict[str, Any]:
    from vramledger.methods.repeated.one_run import read_one
    from vramledger.methods.repeated.result import repeated
    from vramledger.methods.repeated.series import counted, left_out, read_series

    series = read_series(place)
    named = _named(found.runs)
    runs = [each for each in counted(place, series) if each.folder.name in named]
    told = repeated([read_one(each.turn, each.folder) for each in runs])
    missing = len(series.turns) - len(runs)
    reasons = [f"{missing} of {len(series.turns)} runs were not made"] if missing else []
    reasons += told.inconclusive
    said = _of_sides(told)
    return {
        "verdict": OPEN if said == PASS and reasons else said,
        "reason": "; ".join(reasons) or None,
        "scenarios": sorted(
            {one.about.scenario for each in told.sides for one in each.runs if one.about.scenario}
        ),
        "left_out": [each.folder.name for each in left_out(place, series)],
        "sides": [_side(each) for each in told.sides],
    }


def _of_sides(told: "Repeated") -> str:
    said = {OPEN if each.standing is None else _SAID[str(each.standing)] for each in told.sides}
    return next((each for each in (FAIL, OPEN, PASS) if each in said), OPEN)


def _side(found: "SideOf") -> dict[str, Any]:
    return {
        "side": None if found.side is None else str(found.side),
        "runs": len(found.runs),
        "verdict": None if found.standing is None else _SAID[str(found.standing)],
        "lines": [
            {
                "name": each.line.asked,
                "verdict": _SAID[str(each.standing)],
                "pooled": each.line.found,
                "mean": None if each.runs is None else number(each.runs.mean),
                "low": None if each.runs is None else number(each.runs.low),
                "high": None if each.runs is None else number(each.runs.high),
                "reason": each.why or None,
            }
            for each in found.lines
        ],
    }


def _ramp(found: PlacedSeries, place: Path) -> dict[str, Any]:
    """The ends by the steps that are there; a record that says others is named."""
    from vramledger.bundle.ramp_steps import limits_of_steps
    from vramledger.methods.ramp.kept import read_kept

    record = read_kept(place)
    contract, safe = limits_of_steps(place, record, _named(found.runs))
    ends = {"last_safe": _level(contract), "safe_load": _level(safe)}
    told = _stated_ends(record)
    other = next(
        (name for name, end in ends.items() if told is not None and told[name] != end), None
    )
    if other is not None and told is not None:
        raise BadInput(
            f"{found.folder}/ramp.json says that {other} is {told[other]}, and its steps come to {ends[other]}."
        )
    reason = "a ramp decides no contract" if told is not None else "the ramp is not over"
    return {"verdict": None, "reason": reason, **ends}


def _named(runs: Sequence[Placed]) -> Mapping[str, Placed]:
    return {each.name.split("/", 2)[2]: each for each in runs}


def _level(limit: "Limit") -> float | None:
    return None if limit.held is None else number_of(limit.held.level)


def _stated_ends(record: Mapping[str, Any]) -> dict[str, float | None] | None:
    result = record["result"]
    if result is None:
        return None
    axis = result["axis"]
    ends = {"last_safe": result["last_safe"], "safe_load": result["safe_load"]["held"]}
    return {name: None if end is None else number_of(end[axis]) for name, end in ends.items()}


def number_of(value: float) -> float:
    """To nine digits."""
    return float(f"{value:.9g}")


def _soak(found: PlacedSeries, place: Path) -> dict[str, Any]:
    """Segments read anew; what the server held at rest after each is in the record alone."""
    from vramledger.methods.ramp.kept import SOAK as FORM
    from vramledger.methods.ramp.kept import read_kept
    from vramledger.methods.soak.growth import growths
    from vramledger.methods.soak.segment import Segment
    from vramledger.methods.soak.soak import Soak

    record = read_kept(place, FORM)
    stated = [Segment.from_json(each) for each in record["segments"]]
    twice = len({each.folder for each in stated}) < len(stated)
    if twice:
        raise BadInput(f"{found.folder}/soak.json names a segment twice.")
    for each in stated:
        _refuse_other(each, found, place)
    result = record["result"] or {"verdict": "STOPPED"}
    told = Soak(place, tuple(stated), growths(stated), (), 0.0)
    said, reason = _said_of_soak(_GROWTH[str(told.standing)], result)
    return {
        "verdict": said,
        "reason": reason,
        "restarts": told.restarts,
        "growths": [
            {"name": each.measure.name, "standing": str(each.standing), "p": number(each.p), "reason": each.why or None}
            for each in told.growths
        ],
    }  # fmt: skip


def _said_of_soak(found: str, result: Mapping[str, Any]) -> tuple[str, str | None]:
    """What segments come to, with what only the record tells: its ramps, and that it was not ended.

    Raises:
        BadInput: the record says that it holds, and the segments do not say so.
    """
    if result["verdict"] == "HOLDS" and found != PASS:
        raise BadInput(f"soak.json says that it holds, and its segments come to {found}.")
    if result.get("safe_load_falls"):
        return FAIL, "its last ramp found less than its first"
    if result["verdict"] == "STOPPED":
        return (FAIL if found == FAIL else OPEN), "it was not carried out to its end"
    if result["verdict"] == "INCONCLUSIVE" and found == PASS:
        return OPEN, str(result["says"])
    return found, None


def _refuse_other(stated: "Segment", found: PlacedSeries, place: Path) -> None:
    """Refuse a record whose segment says another thing than its run.

    Raises:
        BadInput: it does; the figure is named.
    """
    from dataclasses import fields, replace

    from vramledger.methods.soak.segment import read_segment

    if Path(stated.folder).name != stated.folder or stated.folder not in _named(found.runs):
        raise BadInput(
            f"{found.folder}/soak.json names {stated.folder}, which is no run of the soak."
        )
    kept = ("process_bytes", "page_process_bytes", "idle_kv_usage", "began_at")
    anew = read_segment(place / stated.folder, stated.t_s, {}, None)
    anew = replace(anew, **{name: getattr(stated, name) for name in kept})
    for each in fields(anew):
        if getattr(anew, each.name) != getattr(stated, each.name):
            raise BadInput(
                f"{found.folder}/soak.json says another {each.name} of {stated.folder} than the run comes to."
            )


def number(value: float | None) -> float | str | None:
    """As JSON holds it: to nine digits, which every machine agrees on; "inf" among failures."""
    if value is None or value != value:  # noqa: PLR0124 - NaN is not itself
        return None
    return number_of(value) if isfinite(value) else ("inf" if value > 0 else "-inf")


_OF_KIND: Final[Mapping[str, Callable[[PlacedSeries, Path], dict[str, Any]]]] = {
    REPEAT: _repeated,
    RAMP: _ramp,
    SOAK: _soak,
}
