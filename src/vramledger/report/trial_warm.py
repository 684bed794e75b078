"""Whether a server is ready, for a terminal and as JSON."""

from pathlib import Path
from typing import Any, Final

from vramledger.printable import flat
from vramledger.report.number import rounded
from vramledger.trial.conduct.readiness_told import Readiness, Stage
from vramledger.units import format_gib, format_seconds, gib

SCHEMA: Final = "vramledger.trial-warm/1"


def warm_text(found: Readiness, run: Path | None = None) -> str:
    """The verdict, then memory at each stage; `run` is where it is recorded."""
    verdict = "READY" if found.ready else f"NOT READY: {found.why}"
    lines = [f"{verdict}, after {format_seconds(found.waited_s)}"]
    if found.facts is not None:
        engine = f"{found.facts.engine or 'engine unknown'} {found.facts.engine_version or ''}"
        lines.append(f"{found.facts.base}, {engine.strip()}")
    lines += [_stage(each) for each in found.stages]
    if found.first_s is not None:
        lines.append(f"first request {format_seconds(found.first_s)}")
    if found.round_s:
        rounds = ", ".join(format_seconds(each) for each in found.round_s)
        lines.append(f"then, the mean of each round: {rounds}")
    lines += [f"note: {each}" for each in found.unseen]
    if run is not None:
        lines.append(f"run {run}")
    return "\n".join(map(flat, lines))


def warm_json(found: Readiness, run: Path | None = None) -> dict[str, Any]:
    """Null is what was not seen; `reason` says why."""
    return {
        "schema": SCHEMA,
        "basis": "rehearsed" if found.facts is not None and found.facts.rehearsal else "measured",
        "run": None if run is None else str(run),
        "ready": found.ready,
        "reason": found.why or None,
        "waited_s": rounded(found.waited_s),
        "first_request_s": rounded(found.first_s),
        "round_s": [rounded(each) for each in found.round_s],
        "memory": [
            {
                "stage": each.name,
                "t_s": rounded(each.t_s),
                "used_bytes": each.used_bytes,
                "reason": each.why_not or None,
            }
            for each in found.stages
        ],
        "kv_capacity_tokens": found.facts.seen.kv_tokens if found.facts else None,
        "unseen": list(found.unseen),
    }


def _stage(found: Stage) -> str:
    if found.used_bytes is None:
        return f"memory {found.name}: not read, {found.why_not}"
    each = ", ".join(f"{name} {format_gib(gib(used))}" for name, used in found.used_bytes.items())
    return f"memory {found.name}: {each}"
