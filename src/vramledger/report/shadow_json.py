"""A shadow comparison as the object that ``vram trial shadow --json`` prints and ``-o`` writes."""

from dataclasses import asdict
from typing import Any, Final

from vramledger.methods.shadow.evidence import SCHEMA
from vramledger.methods.shadow.figures import Figures
from vramledger.methods.shadow.pair import Pair
from vramledger.methods.shadow.result import Shadow
from vramledger.methods.shadow.side import Style
from vramledger.report.estimate_json import DIGITS, estimate
from vramledger.report.number import rounded
from vramledger.report.same_text_json import same_text_json

BOOTSTRAP: Final = "bootstrap over prompts, 95 %"
BLOCKS: Final = "blocks in time, 95 %"
_NO_UPPER: Final = "the likeliest tokens alone do not bound it above; the Jensen-Shannon divergence is bounded on both sides"


def basis_of(found: Shadow) -> str:
    """Where the figures come from."""
    return "rehearsed" if found.a.rehearsal or found.b.rehearsal else "measured"


def shadow_json(found: Shadow) -> dict[str, Any]:
    """No text and no token stands in it, unless texts were kept."""
    basis = basis_of(found)
    judged, drawn = found.verdict, BOOTSTRAP if found.style is not None else BLOCKS
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
            **_style(found.style),
        },
        "requests": {
            "asked": found.requests,
            "answered": found.answered,
            "unsent": found.unsent,
            "repeated": found.noise.pairs,
        },
        "errors": {"a": dict(found.errors_a), "b": dict(found.errors_b)},
        "unit": found.unit,
        **_figures(found.found, basis, drawn),
        "noise": {**_figures(found.noise, basis, drawn), "p_value": found.noise_p},
        "prompt_tokens_differ": found.prompt_tokens_differ,
        "remarks": list(found.remarks),
        "compared": [_pair(each) for each in found.pairs],
        "texts": [{"number": place, **asdict(each)} for place, each in found.texts.items()],
        "same_text": same_text_json(found.same_text, basis),
        "mirror": None,
    }


def _style(style: Style | None) -> dict[str, Any]:
    """How requests were put; live traffic was put as it came."""
    return {
        "api": None if style is None else style.api,
        "max_tokens": None if style is None else style.max_tokens,
        "top_logprobs": None if style is None else style.top,
        "seed": None if style is None else style.seed,
    }


def _figures(found: Figures, basis: str, drawn: str) -> dict[str, Any]:
    """`drawn` names what the intervals come from."""
    return {
        "token_agreement": estimate(
            found.token_agreement, basis, f"{drawn}; the exact interval where it is wider"
        ),
        "token_agreement_with_failures": rounded(found.pessimistic, DIGITS),
        "kept_tokens": estimate(found.kept, basis, drawn),
        "exact": estimate(found.exact, basis, "Wilson, 95 %" if drawn == BOOTSTRAP else drawn),
        "parted": found.parted,
        "first_divergence_median": estimate(
            found.first_difference, basis, "Kaplan-Meier, log-log interval, 95 %"
        ),
        "kl": {
            **estimate(found.kl, basis, f"lower bound, tails lumped; {drawn}"),
            "upper": None,
            "upper_reason": _NO_UPPER,
            "places": found.places,
            "unlisted_mass": rounded(found.unlisted.value, DIGITS),
        },
        "js": {
            "lower": estimate(found.js_low, basis, f"tails lumped; {drawn}"),
            "upper": estimate(found.js_high, basis, f"tails disjoint; {drawn}"),
        },
        "lengths": {
            "a_mean_tokens": rounded(found.length_a),
            "b_mean_tokens": rounded(found.length_b),
            "difference_tokens": estimate(found.longer, basis, f"paired, B less A; {drawn}"),
        },
    }


def _pair(found: Pair) -> dict[str, Any]:
    return {
        "prompt": found.prompt,
        "agreed_tokens": found.agreed,
        "parted": found.parted,
        "exact": found.exact,
        "length_a_tokens": found.length_a,
        "length_b_tokens": found.length_b,
        "kl": rounded(found.kl_low / found.places, DIGITS) if found.places else None,
    }
