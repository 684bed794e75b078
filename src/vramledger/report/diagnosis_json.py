"""A diagnosis as JSON: ``vramledger.diagnosis/1``."""

from math import isfinite
from typing import Any, Final

from vramledger.diagnose.controlled import Controlled, Side
from vramledger.diagnose.counterfactual.bench import Played
from vramledger.diagnose.counterfactual.memory import MoreMemory, Tried
from vramledger.diagnose.counterfactual.remedies import Remedy
from vramledger.diagnose.counterfactual.upgrade import Upgrade
from vramledger.diagnose.diagnosis import Diagnosis, Judged
from vramledger.diagnose.finding import Finding
from vramledger.diagnose.hypothesis import Hypothesis, NextChange
from vramledger.report.number import rounded

SCHEMA: Final = "vramledger.diagnosis/1"


def diagnosis_json(found: Diagnosis) -> dict[str, Any]:
    """A run's diagnosis; what is not known is null."""
    return {
        **findings_json(found.judged),
        "more_memory_helps": _memory(found.memory),
        "expected": None
        if found.expected is None
        else {"before": _played(found.expected[0]), "after": _played(found.expected[1])},
        "prices_from": found.prices_from or None,
        "remedies": [_remedy(each) for each in found.remedies],
        "controlled_test": None if found.test is None else _test(found.test),
        "upgrade": None if found.upgrade is None else _upgrade(found.upgrade),
        "played_requests": found.played,
        "known_requests": found.offered,
    }


def _memory(found: MoreMemory) -> dict[str, Any]:
    return {
        "now": found.now.answer.value,
        "after": {"change": found.change or None, "answer": found.after.answer.value},
        "proof": {"now": _tried(found.now), "after": _tried(found.after)},
    }


def _tried(found: Tried) -> dict[str, Any]:
    return {
        "reason": found.reason,
        "before": None if found.before is None else _played(found.before),
        "larger_pool": None if found.after is None else _played(found.after),
    }


def _played(found: Played) -> dict[str, Any]:
    """One simulation; every figure is simulated, at the run's own pace."""
    return {
        "basis": "derived",
        "ttft_mean_s": number(found.ttft_mean_s),
        "ttft_p95_s": number(found.ttft_p95_s),
        "queue_mean_s": number(found.queue_mean_s),
        "tpot_p50_s": number(found.tpot_p50_s),
        "e2e_mean_s": number(found.e2e_mean_s),
        "preemptions": found.preemptions,
        "recomputed_tokens": found.recomputed_tokens,
        "kv_usage_max": number(found.kv_most),
        "served": found.served,
    }


def _remedy(each: Remedy) -> dict[str, Any]:
    return {
        "name": each.name,
        "change": each.change,
        "untouched": each.untouched,
        "gpus": each.gpus,
        "price_per_hour": each.price_per_hour,
        "simulated": None if each.found is None else _played(each.found),
        "reason": each.reason or None,
    }


def _test(found: Controlled) -> dict[str, Any]:
    return {
        "fell": found.fell,
        "reason": found.reason,
        "before": _side(found.before),
        "after": _side(found.after),
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "max_num_seqs": side.max_num_seqs,
        "requests": side.requests,
        "preemptions": number(side.preemptions),
        "recomputed_tokens": number(side.recomputed_tokens),
        "ttft_mean_s": number(side.ttft_mean_s),
    }


def _upgrade(found: Upgrade) -> dict[str, Any]:
    return {
        "candidate": found.candidate,
        "answer": found.standing.value,
        "reason": found.reason,
        "before": None if found.before is None else _played(found.before),
        "after": None if found.after is None else _played(found.after),
    }


def number(value: float) -> float | None:
    """Six decimals; null for what is not known."""
    return round(value, 6) if isfinite(value) else None


def findings_json(found: Judged) -> dict[str, Any]:
    """What every diagnosis has, whatever it was made of."""
    return {
        "schema": SCHEMA,
        "verdict": found.findings[0].cause,
        "findings": [finding_json(each) for each in found.findings],
        "hypotheses": [_hypothesis(each) for each in found.hypotheses],
        "missing": list(found.picture.evidence.missing),
        "slow": {
            "decided_by": "contract" if found.picture.evidence.slow.by_contract else "fixed",
            "said": found.picture.evidence.slow.said,
        },
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
