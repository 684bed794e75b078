"""A diagnosis as JSON: ``vramledger.diagnosis/1``."""

from typing import Any, Final

from vramledger.diagnose.diagnosis import Judged
from vramledger.diagnose.finding import Finding
from vramledger.diagnose.hypothesis import Hypothesis, NextChange
from vramledger.report.number import rounded

SCHEMA: Final = "vramledger.diagnosis/1"


def findings_json(found: Judged) -> dict[str, Any]:
    """What every diagnosis has, whatever it was made of."""
    return {
        "schema": SCHEMA,
        "verdict": found.findings[0].cause,
        "findings": [finding_json(each) for each in found.findings],
        "hypotheses": [_hypothesis(each) for each in found.hypotheses],
        "missing": list(found.picture.evidence.missing),
    }


def finding_json(each: Finding) -> dict[str, Any]:
    """One finding."""
    return {
        "id": each.id,
        "severity": each.severity.value,
        "message": each.message,
        "cause": each.cause,
        "score": rounded(each.score, 3),
        "confidence": rounded(each.confidence, 3),
        "supports": list(each.supports),
        "contradicts": list(each.contradicts),
        "unseen": list(each.unseen),
        "next_change": None if each.next_change is None else change_json(each.next_change),
    }


def change_json(change: NextChange) -> dict[str, Any]:
    """The one change to try next."""
    return {"text": change.text, "flag": change.flag, "value": change.value}


def _hypothesis(each: Hypothesis) -> dict[str, Any]:
    return {
        "id": each.cause.id,
        "cause": each.cause.name,
        "score": rounded(each.score, 3),
        "confidence": rounded(each.confidence, 3),
    }
