"""A verdict as the object that ``vram accept --json`` prints: the same verdict is always the same bytes."""

from math import isinf, isnan
from typing import Any, Final

from vramledger.accept.origins import is_no_evidence
from vramledger.accept.verdict import Group, Line, Reached, ScenarioVerdict, Verdict, Work

SCHEMA: Final = "vramledger.verdict/1"
_DIGITS: Final = 9  # significant ones, on which every machine agrees


def verdict_json(found: Verdict) -> dict[str, Any]:
    """`lines` has every line of every scenario; an infinite end is the string "inf" or "-inf"."""
    return {
        "schema": SCHEMA,
        "verdict": str(found.said),
        "origin": found.origin,
        "no_evidence": is_no_evidence(found.origin),
        "plan": found.plan,
        "form": found.form,
        "level": found.level,
        "lines": [
            {"scenario": each.name, **_line(line, each)}
            for each in found.scenarios
            for line in each.lines
        ],
        "scenarios": [_scenario(each) for each in found.scenarios],
        "notes": list(found.notes),
    }


def _line(line: Line, of: ScenarioVerdict) -> dict[str, Any]:
    return {
        "name": line.name,
        "verdict": str(line.said),
        "value": number(line.value),
        "low": number(line.low),
        "high": number(line.high),
        "threshold": number(line.threshold),
        "unit": line.unit or None,
        "reason": line.reason or None,
        "settles": line.settles or None,
        "basis": of.origin,
        "run": of.run,
        "records": list(line.records),
        "counted": line.counted,
        "independent": number(line.independent),
    }


def _scenario(found: ScenarioVerdict) -> dict[str, Any]:
    return {
        "name": found.name,
        "kind": found.kind,
        "verdict": str(found.said),
        "run": found.run,
        "basis": found.origin,
        "origin": found.origin,
        "offered": found.offered,
        "reached": [reached_json(each) for each in found.reached],
        "groups": [group_json(each) for each in found.groups],
        "work": work_json(found.work),
        "notes": list(found.notes),
    }


def reached_json(found: Reached) -> dict[str, Any]:
    """A figure of the load."""
    return {
        "name": found.name,
        "unit": found.unit,
        "asked": number(found.asked),
        "reached": number(found.reached),
        "enough": found.enough,
    }


def group_json(found: Group) -> dict[str, Any]:
    """Requests of one tenant or class."""
    return {
        "of": found.of,
        "name": found.name,
        "offered": found.offered,
        "ok": found.ok,
        "good": found.good,
        "figures": {name: number(value) for name, value in found.figures},
    }


def work_json(found: Work) -> dict[str, Any]:
    """What was done in an hour."""
    return {
        "offered_per_hour": number(found.offered_per_hour),
        "good_per_hour": number(found.good_per_hour),
        "good_per_hour_low": number(found.good_low),
        "good_per_hour_high": number(found.good_high),
        "good_tokens_per_hour": number(found.good_tokens_per_hour),
        "lost_share": number(found.lost_share),
        "quality_proven": found.quality_proven,
    }


def number(value: float | None) -> float | str | None:
    """To nine digits; None for none, and NaN."""
    if value is None or isnan(value):
        return None
    if isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(f"{value:.{_DIGITS}g}")
