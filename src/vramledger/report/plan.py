"""The check of a plan as JSON and for a terminal."""

from typing import Any

from vramledger.plan.check import PlanCheck
from vramledger.plan.requirement import Requirement, Scenario
from vramledger.units import plain

SCHEMA = "vramledger.plan/1"
_SHARES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}


def to_json(check: PlanCheck) -> dict[str, Any]:
    """The object that ``vram plan check --json`` prints."""
    requirement = check.requirement
    return {
        "schema": SCHEMA,
        "file": check.name,
        "sound": requirement is not None,
        "problems": list(check.problems),
        "unmet": list(check.unmet),
        "undecided": list(check.undecided),
        "warnings": list(check.warnings),
        "requirement": None if requirement is None else _requirement(requirement),
    }


def to_text(check: PlanCheck) -> str:
    """What was understood and assumed, or every problem on a line of its own."""
    if check.requirement is None:
        count = len(check.problems)
        noun = "problem" if count == 1 else "problems"
        return "\n".join([f"{check.name} has {count} {noun}:", *check.problems])
    requirement = check.requirement
    lines = [
        f"{check.name} is sound: {requirement.name}, {requirement.model}",
        f"  weights {', '.join(requirement.weights)}; KV cache {', '.join(requirement.kv_dtypes)}",
        f"  {_cards(requirement)}",
    ]
    for scenario in requirement.scenarios:
        lines += ["", *_scenario_lines(scenario)]
    lines += [*([""] if requirement.notes else []), *(f"Note: {n}" for n in requirement.notes)]
    lines += [f"Warning: {sentence}" for sentence in check.warnings]
    lines += [f"Not decided: {sentence}" for sentence in check.undecided]
    return "\n".join([*lines, *(f"Not met: {sentence}" for sentence in check.unmet)])


def _cards(requirement: Requirement) -> str:
    names = [card.name for card in requirement.accelerators]
    return "every card of the catalogue" if not names else f"cards: {', '.join(names)}"


def _scenario_lines(scenario: Scenario) -> list[str]:
    hours = "" if scenario.hours is None else f", {scenario.hours}"
    kept = "auto" if scenario.headroom is None else f"{scenario.headroom:.0%}"
    lengths = scenario.lengths
    readers = {"input": lengths.input_at, "output": lengths.output_at, "total": lengths.total_at}
    digits = 4 if scenario.load.recorded else 10
    load = f"{plain(scenario.load.amount, digits)} {scenario.load.unit}"
    lines = [
        f"{scenario.name}: {scenario.kind}{hours}, {load}, headroom {kept}",
        f"  {'tokens':<8}{'mean':>10}" + "".join(f"{name:>10}" for name in _SHARES),
    ]
    means = {
        "input": lengths.mean_input,
        "output": lengths.mean_output,
        "total": lengths.mean_total,
    }
    for name, read in readers.items():
        at = "".join(f"{read(share):>10,}" for share in _SHARES.values())
        lines.append(f"  {name:<8}{means[name]:>10,.0f}{at}")
    contract = "no threshold" if scenario.contract.is_empty else "; ".join(scenario.contract.lines)
    return [*lines, f"  contract: {contract}"]


def _requirement(requirement: Requirement) -> dict[str, Any]:
    return {
        "name": requirement.name,
        "form": str(requirement.form),
        "model": requirement.model,
        "weights": list(requirement.weights),
        "kv_dtypes": list(requirement.kv_dtypes),
        "engine": {
            "name": requirement.engine.name,
            "version": requirement.engine.version,
            "args": dict(requirement.engine.args),
        },
        "gpus": [card.name for card in requirement.accelerators],
        "prices_per_hour": dict(requirement.prices),
        "currency": requirement.currency,
        "scenarios": [_scenario(scenario) for scenario in requirement.scenarios],
        "notes": list(requirement.notes),
    }


def _scenario(scenario: Scenario) -> dict[str, Any]:
    lengths = scenario.lengths
    readers = {
        "input_tokens": lengths.input_at,
        "output_tokens": lengths.output_at,
        "total_tokens": lengths.total_at,
    }
    tables = {
        key: {name: read(share) for name, share in _SHARES.items()} for key, read in readers.items()
    }
    return {
        "name": scenario.name,
        "kind": str(scenario.kind),
        "hours": scenario.hours,
        "headroom": scenario.headroom,
        "load": {"unit": str(scenario.load.unit), "amount": scenario.load.amount},
        "lengths": {**tables, "basis": str(lengths.basis), "source": lengths.source},
    }
