"""The knee of a simulated deployment as JSON: ``vramledger.knee/1``."""

from dataclasses import fields
from math import isinf
from typing import Any, Final

from vramledger.methods.knee.curve import CurveKnee, power
from vramledger.methods.knee.probes import Point
from vramledger.methods.knee.search import Limit
from vramledger.methods.knee.sequential import LEAD, MOST, SELDOM, wrong_at_most
from vramledger.methods.simulated.knee import Side, SimulatedKnee, SlowEnd
from vramledger.methods.subject import Axis, Check, Goal, Observation
from vramledger.report.knee_finding import finding
from vramledger.report.knee_words import knee_sentence, sentences

SCHEMA: Final = "vramledger.knee/1"


def not_served_json(reason: str) -> dict[str, Any]:
    """The object where the deployment does not start."""
    return {"schema": SCHEMA, "holds": False, "reason": reason}


def to_json(found: SimulatedKnee) -> dict[str, Any]:
    """The object; an infinite figure is the text "inf", what is not known is null.

    `without_prefix_hits` repeats the keys of a side; null where the main one is without hits.
    """
    question, capacity = found.question, found.standing.capacity
    other = found.sides[1] if len(found.sides) > 1 else None
    return {
        "schema": SCHEMA,
        "origin": "simulated",
        "basis": str(found.basis),
        "deployment": _deployment(found),
        "workload": question.part.workload.name,
        "scenario": question.scenario,
        "replicas": question.replicas,
        "seed": question.seed,
        "axis": str(found.axis),
        "tolerance": found.tolerance,
        "contract": list(found.asked(Goal.CONTRACT)),
        "contract_stated": found.stated,
        "headroom": list(found.asked(Goal.SAFE)),
        "holds": found.holds,
        "stopped": found.stopped,
        "prefix_hits": found.main.hits,
        **_side(found, found.main),
        "without_prefix_hits": None if other is None else _side(found, other),
        "theory": {
            "concurrency": capacity.concurrency,
            "saturation_requests_per_s": capacity.saturation_per_s,
            "safe_requests_per_s": capacity.safe_per_s,
            "headroom": capacity.headroom,
        },
        "verdicts": {
            "lead": LEAD,
            "most_draws": MOST,
            "share_of_draws": SELDOM,
            "wrong_at_most": wrong_at_most(SELDOM),
        },
        "notes_of": _shown(found),
        "notes": list(found.notes),
    }


def _deployment(found: SimulatedKnee) -> dict[str, Any]:
    bench = found.standing.bench
    return {
        "engine": "vllm",
        "engine_version": bench.deployment.version,
        "model": bench.deployment.model.id,
        "gpu": bench.deployment.accelerator.name,
        "tp": bench.deployment.layout.tp,
        "dp": bench.deployment.layout.dp,
        "kv_blocks": bench.pool.num_blocks,
        "kv_pool_end": found.question.end,
    }


def _shown(found: SimulatedKnee) -> dict[str, Any] | None:
    """The load that the notes are of."""
    point = found.shown
    if point is None:
        return None
    return {str(found.axis): point.level, "seed": point.example(Goal.CONTRACT).seed}


def _side(found: SimulatedKnee, side: Side) -> dict[str, Any]:
    knee, axis = side.knee, found.axis
    return {
        "verdict": str(side.finding),
        "asked": side.asked,
        "says": finding(found, side),
        "decision_load": _decision(axis, side),
        "drawn": list(side.drawn),
        "contract_limit": None if knee is None else limit_json(axis, knee.contract),
        "safe_load": None if knee is None else limit_json(axis, knee.safe),
        "knee": None if knee is None else knee_json(axis, knee.curve),
        "points": [point_json(axis, point) for point in side.points],
        "slow_end": None if side.slow is None else _slow_end(axis, side.slow),
    }


def _decision(axis: Axis, side: Side) -> dict[str, Any] | None:
    limit = side.decision
    return None if limit is None else end_json(axis, limit.held, limit.goal)


def _slow_end(axis: Axis, slow: SlowEnd) -> dict[str, Any]:
    limits = slow.limits
    return {
        "step_time_factor": slow.factor,
        "contract_limit": None if limits is None else limit_json(axis, limits.contract),
        "safe_load": None if limits is None else limit_json(axis, limits.safe),
        "knee": None if limits is None else knee_json(axis, slow.curve),
        "points": [point_json(axis, point) for point in slow.points],
    }


def limit_json(axis: Axis, limit: Limit) -> dict[str, Any]:
    return {
        "ending": str(limit.ending),
        "held": end_json(axis, limit.held, limit.goal),
        "failed": end_json(axis, limit.failed, limit.goal),
        "uncertain": [point.level for point in limit.uncertain],
        "holds_again": [point.level for point in limit.again],
        "says": " ".join(sentences(limit, axis)),
    }


def end_json(axis: Axis, point: Point | None, goal: Goal) -> dict[str, Any] | None:
    if point is None:
        return None
    shown, seen = point.example(goal), point.first.figures
    return {
        str(axis): point.level,
        "requests_per_s": seen.offered_per_s,
        "in_system_mean": seen.in_system_mean,
        "in_system_p99": seen.in_system_p99,
        "draws": len(point.plays),
        "draws_held": point.held(goal),
        "seed": shown.seed,
        "checks": [_check(check) for check in shown.checks(goal)],
    }


def knee_json(axis: Axis, knee: CurveKnee | None) -> dict[str, Any]:
    says = knee_sentence(knee, axis)
    if knee is None:
        return {str(axis): None, "says": says}
    return {
        str(axis): knee.point.level,
        "requests_per_s": knee.point.first.figures.offered_per_s,
        "between": [None if end is None else end.level for end in (knee.below, knee.above)],
        "says": says,
    }


def point_json(axis: Axis, point: Point) -> dict[str, Any]:
    seen = point.first.figures
    figures = {part.name: _finite(getattr(seen, part.name)) for part in fields(seen)}
    return {
        str(axis): point.level,
        **figures,
        "power": power(seen),
        **{f"{goal}_verdict": _verdict(point, goal) for goal in Goal},
        "checks": [_check(check) for check in point.first.checks(Goal.SAFE)],
        "draws": [_draw(play) for play in point.plays],
    }


def _verdict(point: Point, goal: Goal) -> str | None:
    found = point.verdict(goal)
    return None if found is None else str(found)


def _draw(play: Observation) -> dict[str, Any]:
    broke = [check.asked for check in play.failed(Goal.SAFE)]
    return {
        "seed": play.seed,
        **{str(goal): str(play.verdict(goal)) for goal in Goal},
        "broke": broke,
    }


def _check(check: Check) -> dict[str, Any]:
    amount = check.amount
    return {
        "asked": check.asked,
        "found": check.found,
        "holds": check.holds,
        "value": None if amount is None else _finite(amount.value),
        "threshold": None if amount is None else amount.threshold,
    }


def _finite(value: float | None) -> float | str | None:
    return "inf" if value is not None and isinf(value) else value
