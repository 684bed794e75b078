"""What two servers hold of the same text, as JSON."""

from typing import Any, Final

from vramledger.methods.shadow.both_read import PartFigures, SameTextFigures
from vramledger.report.estimate_json import DIGITS, estimate
from vramledger.report.number import rounded

_DRAWN: Final = "bootstrap over prompts, 95 %"


def same_text_json(found: SameTextFigures, basis: str) -> dict[str, Any]:
    """Each part is null where nothing was read."""
    return {
        "reason": found.reason or None,
        "texts": found.texts,
        "too_long": found.too_long,
        "failed": {"a": found.failed_a, "b": found.failed_b},
        "answer": _part(found.answer, basis),
        "prompt": _part(found.prompt, basis),
        "noise": _part(found.again, basis),
    }


def _part(found: PartFigures | None, basis: str) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "places": found.places,
        "less_likely": estimate(
            found.less_likely, basis, f"nats a token, A less B, exact; {_DRAWN}"
        ),
        "same_likeliest": estimate(found.alike, basis, _DRAWN),
        "kl": estimate(found.kl, basis, f"lower bound, tails lumped; {_DRAWN}"),
        "js": {
            "lower": estimate(found.js_low, basis, f"tails lumped; {_DRAWN}"),
            "upper": estimate(found.js_high, basis, f"tails disjoint; {_DRAWN}"),
        },
        "unlisted_mass": rounded(found.unlisted.value, DIGITS),
        "perplexity": {
            "a": rounded(found.perplexity_a, DIGITS),
            "b": rounded(found.perplexity_b, DIGITS),
        },
    }
