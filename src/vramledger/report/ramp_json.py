"""A ramp as JSON: ``vramledger.ramp/1``."""

from typing import Any, Final

from vramledger.methods.measured.subject import Step
from vramledger.methods.ramp.found import Ramp
from vramledger.methods.subject import Goal
from vramledger.report.knee_json import end_json, knee_json, limit_json, point_json
from vramledger.report.ramp import VERDICTS, goal_lines, says, stop_said

SCHEMA: Final = "vramledger.ramp/1"


def ramp_json(found: Ramp) -> dict[str, Any]:
    """The object; a load has the key of the axis, an infinite figure is the text "inf", what is not known is null."""
    axis = found.axis
    return {
        "schema": SCHEMA,
        "origin": "rehearsed" if found.rehearsed else "measured",
        "basis": "measured",
        "folder": str(found.folder),
        **{
            name: found.about.get(name)
            for name in ("engine", "engine_version", "model", "workload")
        },
        "axis": str(axis),
        "tolerance": found.tolerance,
        "verdict": VERDICTS[found.finding],
        "finding": str(found.finding),
        "says": " ".join(says(found)),
        "asked": found.asked,
        "stopped_by": found.stopped_by,
        "stopped_says": stop_said(found),
        "last_safe": end_json(axis, found.contract.held, Goal.CONTRACT),
        "safe_load": limit_json(axis, found.safe),
        "contract_limit": limit_json(axis, found.contract),
        "knee": knee_json(axis, found.knee),
        "contract": goal_lines(found, Goal.CONTRACT),
        "headroom": goal_lines(found, Goal.SAFE),
        "unknown": list(found.unknown),
        "prediction": None if found.prediction is None else found.prediction.to_json(),
        "points": [point_json(axis, point) for point in found.points],
        "steps": [_step(step, str(axis)) for step in found.steps],
    }


def _step(step: Step, axis: str) -> dict[str, Any]:
    waited = step.waited
    return {
        axis: step.level,
        "attempt": step.attempt,
        "run": step.folder.name,
        "seed": step.read.seen.seed,
        "near_a_threshold": step.read.seen.unsure,
        "client_bottleneck": step.read.client,
        "inconclusive": list(step.read.open),
        "idle": None if waited is None else waited.idle,
        "idle_wait_s": None if waited is None else round(waited.waited_s, 3),
        "notes": list(step.read.seen.notes),
    }
