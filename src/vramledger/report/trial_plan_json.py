"""A proposal of trials as JSON."""

from math import isfinite
from pathlib import Path
from typing import Any, Final

from vramledger.methods.trialplan.item import Item
from vramledger.methods.trialplan.proposal import LineChance, Proposal
from vramledger.methods.trialplan.scenario_need import ScenarioNeed

SCHEMA: Final = "vramledger.trialplan/1"
_HOUR_S: Final = 3600.0


def plan_json(found: Proposal, file: Path | None) -> dict[str, Any]:
    """The object that ``vram trial plan --json`` prints."""
    budget = found.budget
    ends = budget.ends
    return {
        "schema": SCHEMA,
        "starts": True,
        "decides": found.decides,
        "no_evidence": list(found.no_evidence),
        "confidence": found.confidence,
        "hours": round(found.seconds / _HOUR_S, 4),
        "hours_to_decide": round(found.seconds_to_decide / _HOUR_S, 4),
        "hours_available": _finite(budget.seconds / _HOUR_S),
        "until": None if ends is None else ends.isoformat(timespec="seconds"),
        "cost": budget.cost_of(found.seconds) if budget.per_hour else None,
        "currency": budget.currency or None,
        "file": None if file is None else str(file),
        "lines": [_line(each) for each in found.lines],
        "scenarios": [_scenario(each) for each in found.needs],
        "items": [item_json(each) for each in found.items],
        "left_out": [item_json(each) for each in found.left_out],
    }


def item_json(item: Item) -> dict[str, Any]:
    """One trial."""
    return {
        "name": item.name,
        "kind": item.kind,
        "scenario": item.scenario,
        "send_s": item.send_s,
        "takes_s": item.takes_s,
        "decides": list(item.decides),
        "settings": dict(item.settings),
        "times": item.times,
        "against": item.against,
    }


def _line(each: LineChance) -> dict[str, Any]:
    need = each.need
    return {
        "scenario": each.scenario,
        "asked": need.asked,
        "decided": each.decided,
        "decided_at_ends_too": each.at_ends_too,
        "needed": need.needed,
        "expected": None if each.expected is None else round(each.expected),
        "per_hour": need.per_hour,
        "expected_share": need.expected_share,
        "must_share": need.must_share,
        "design_effect": need.effect,
        "hours": need.hours,
        "hours_at_ends": _finite(need.hours_at_ends),
        "given_hours": each.given_hours,
        "chance_of_failing": round(need.chance_of_failing, 4),
        "reason": need.why or None,
    }


def _scenario(need: ScenarioNeed) -> dict[str, Any]:
    return {
        "name": need.name,
        "requests": need.requests,
        "span_s": need.span_s,
        "requests_per_hour": need.per_hour,
        "fewest_s": need.fewest_s,
        "send_s": need.send_s,
        "takes_s": need.takes_s,
        "chance_of_failing": round(need.chance_of_failing, 4),
        "notes": list(need.notes),
    }


def _finite(value: float | None) -> float | None:
    return value if value is not None and isfinite(value) else None
