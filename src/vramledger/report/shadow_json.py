"""A shadow comparison as the object that ``vram trial shadow --json`` prints and ``-o`` writes."""

from dataclasses import asdict
from typing import Any, Final

from vramledger.methods.shadow.evidence import SCHEMA
from vramledger.methods.shadow.figures import Figures
from vramledger.methods.shadow.intervals import Estimate
from vramledger.methods.shadow.pair import Pair
from vramledger.methods.shadow.result import Shadow
from vramledger.report.number import rounded

_DIGITS: Final = 6
_BOOTSTRAP: Final = "bootstrap over prompts, 95 %"
_NO_UPPER: Final = "the likeliest tokens alone do not bound it above; the Jensen-Shannon divergence is bounded on both sides"


def basis_of(found: Shadow) -> str:
    """Where the figures come from."""
    return "rehearsed" if found.a.rehearsal or found.b.rehearsal else "measured"


def shadow_json(found: Shadow) -> dict[str, Any]:
    """No text and no token stands in it, unless texts were kept."""
    basis = basis_of(found)
    judged = found.verdict
    return {
        "schema": SCHEMA,
        "basis": basis,
        "verdict": judged.verdict,
        "judged_by": judged.judged_by,
        "reason": judged.reason,
        "threshold": judged.threshold,
        "requests_needed": judged.requests_needed,
        "interrupted": found.interrupted,
        "a": asdict(found.a),
        "b": asdict(found.b),
        "asked": {
            "prompts": found.source,
            "prompts_sha256": found.prompts_sha256,
            "api": found.style.api,
            "max_tokens": found.style.max_tokens,
            "top_logprobs": found.style.top,
            "seed": found.style.seed,
        },
        "requests": {
            "asked": found.requests,
            "answered": found.answered,
            "unsent": found.unsent,
            "repeated": found.noise.pairs,
        },
        "errors": {"a": dict(found.errors_a), "b": dict(found.errors_b)},
        "unit": found.unit,
        **_figures(found.found, basis),
        "noise": {**_figures(found.noise, basis), "p_value": found.noise_p},
        "prompt_tokens_differ": found.prompt_tokens_differ,
        "remarks": list(found.remarks),
        "compared": [_pair(each) for each in found.pairs],
        "texts": [{"number": place, **asdict(each)} for place, each in found.texts.items()],
    }


def _figures(found: Figures, basis: str) -> dict[str, Any]:
    return {
        "token_agreement": _estimate(
            found.token_agreement, basis, f"{_BOOTSTRAP}; the exact interval where it is wider"
        ),
        "token_agreement_with_failures": rounded(found.pessimistic, _DIGITS),
        "kept_tokens": _estimate(found.kept, basis, _BOOTSTRAP),
        "exact": _estimate(found.exact, basis, "Wilson, 95 %"),
        "parted": found.parted,
        "first_divergence_median": _estimate(
            found.first_difference, basis, "Kaplan-Meier, log-log interval, 95 %"
        ),
        "kl": {
            **_estimate(found.kl, basis, f"lower bound, tails lumped; {_BOOTSTRAP}"),
            "upper": None,
            "upper_reason": _NO_UPPER,
            "places": found.places,
            "unlisted_mass": _value(found.unlisted),
        },
        "js": {
            "lower": _estimate(found.js_low, basis, f"tails lumped; {_BOOTSTRAP}"),
            "upper": _estimate(found.js_high, basis, f"tails disjoint; {_BOOTSTRAP}"),
        },
        "lengths": {
            "a_mean_tokens": rounded(found.length_a),
            "b_mean_tokens": rounded(found.length_b),
            "difference_tokens": _estimate(found.longer, basis, f"paired, B less A; {_BOOTSTRAP}"),
        },
    }


def _estimate(found: Estimate, basis: str, source: str) -> dict[str, Any]:
    if found.value is None:
        return {"value": None, "low": rounded(found.low), "high": None, "reason": found.reason}
    low, high = (rounded(each, _DIGITS) for each in (found.low, found.high))
    return {"value": _value(found), "low": low, "high": high, "basis": basis, "source": source}


def _value(found: Estimate) -> float | None:
    return rounded(found.value, _DIGITS)


def _pair(found: Pair) -> dict[str, Any]:
    return {
        "prompt": found.prompt,
        "agreed_tokens": found.agreed,
        "parted": found.parted,
        "exact": found.exact,
        "length_a_tokens": found.length_a,
        "length_b_tokens": found.length_b,
        "kl": rounded(found.kl_low / found.places, _DIGITS) if found.places else None,
    }
