"""A soak as JSON: ``vramledger.soak/1``."""

from typing import Any, Final

from vramledger.methods.soak.growth import Growth
from vramledger.methods.soak.soak import Soak
from vramledger.report.soak import VERDICTS, says

SCHEMA: Final = "vramledger.soak/1"


def soak_json(found: Soak) -> dict[str, Any]:
    """The object; what is not known is null."""
    return {
        "schema": SCHEMA,
        "basis": "measured",
        "folder": str(found.folder),
        "verdict": "STOPPED" if found.interrupted else VERDICTS[found.standing],
        "says": " ".join(says(found)),
        "asked_s": found.asked_s,
        "stopped": found.interrupted,
        "ended_early": found.halted or None,
        "restarts": found.restarts,
        "growths": [_growth(each) for each in found.growths],
        "safe_loads": list(found.safe_loads),
        "safe_load_falls": found.safe_falls,
        "segments": [each.to_json() for each in found.segments],
    }


def _growth(each: Growth) -> dict[str, Any]:
    found = each.trend
    told = None
    if found is not None:
        told = {
            "grown": found.grown,
            "low": found.low * found.span_s,
            "high": found.high * found.span_s,
            "mean": found.mean,
            "per_day": each.a_day,
            "span_s": found.span_s,
            "segments": found.count,
        }
    return {
        "name": each.measure.name,
        "unit": each.measure.unit,
        "standing": str(each.standing),
        "p": each.p,
        "trend": told,
        "reason": each.why or None,
        "needs_s": each.needs_s,
    }
