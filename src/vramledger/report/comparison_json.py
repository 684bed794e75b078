"""A comparison as JSON: ``vramledger.comparison/1``."""

from collections.abc import Sequence
from math import isfinite
from typing import Any, Final

from vramledger.compare.comparison import Comparison
from vramledger.compare.difference import Difference
from vramledger.compare.effect import LEVEL, Effect
from vramledger.compare.finding import Finding, Standing
from vramledger.compare.sample_size import ALPHA, POWER
from vramledger.compare.side import Side

SCHEMA: Final = "vramledger.comparison/1"
_DIGITS: Final = 6


def comparison_json(found: Sequence[Comparison]) -> dict[str, Any]:
    """The first two sides at the top; further sides, each against A, under `further`."""
    first, *further = found
    return {
        "schema": SCHEMA,
        "base": _side(first.a),
        **_compared(first),
        "practical": first.practical,
        "confidence": LEVEL,
        "correction": {"method": "Holm", "family_wise_error": ALPHA},
        "power": POWER,
        "further": [_compared(each) for each in further],
    }


def _compared(found: Comparison) -> dict[str, Any]:
    said = found.attribution
    return {
        "other": _side(found.b),
        "attributable": said.attributable,
        "attribution": str(said.answer),
        "change": None if said.change is None or not said.attributable else said.change.name,
        "conditions": list(said.conditions),
        "reason": said.why or None,
        "differences": [_difference(each) for each in said.differences],
        "pairs": None if found.counts is None else _pairs(found),
        "effects": [_finding(each) for each in found.findings],
        "remarks": list(found.remarks),
    }


def _side(found: Side) -> dict[str, Any]:
    return {
        "side": found.name,
        "basis": found.told.description.origin.value,
        "runs": [
            {
                "path": str(each.run.path),
                "origin": each.run.description.origin.value,
                "requests": len(each.records),
                "ok": int(each.records.ok.sum()),
                "seed": each.run.description.seed,
            }
            for each in found.runs
        ],
    }


def _difference(found: Difference) -> dict[str, Any]:
    return {
        "name": found.name,
        "title": found.title,
        "a": found.a,
        "b": found.b,
        "kind": str(found.kind),
        "reason": found.why or None,
    }


def _pairs(found: Comparison) -> dict[str, int]:
    counts = found.counts
    assert counts is not None  # noqa: S101 - asked before
    return {
        "both_ok": counts.both_ok,
        "a_alone_ok": counts.a_alone_ok,
        "b_alone_ok": counts.b_alone_ok,
        "neither_ok": counts.neither_ok,
        "sent_to_a_alone": counts.sent_to_a_alone,
        "sent_to_b_alone": counts.sent_to_b_alone,
        "same_length": counts.same_length,
    }


def _finding(found: Finding) -> dict[str, Any]:
    return {
        "name": found.figure.name,
        "statistic": found.figure.statistic,
        "compared_as": "difference" if found.figure.is_share else "ratio",
        **_effect(found.chosen),
        "p_corrected": _number(found.p),
        "standing": str(found.standing),
        "differs": found.standing in (Standing.DIFFERS, Standing.SMALL),
        "smallest_detectable": _number(found.smallest),
        "requests_needed": found.requests,
        "runs_needed": found.runs,
        "paired": _or_none(found.paired),
        "unpaired": _or_none(found.unpaired),
        "equal_length": _or_none(found.equal_length),
    }


def _or_none(found: Effect | None) -> dict[str, Any] | None:
    return None if found is None else _effect(found)


def _effect(found: Effect) -> dict[str, Any]:
    return {
        "way": str(found.way),
        "a": _number(found.a),
        "b": _number(found.b),
        "difference": _number(found.difference),
        "relative": _number(found.relative),
        "low": _number(found.low),
        "high": _number(found.high),
        "p": _number(found.p),
        "count": found.counted,
        "runs": found.runs,
        "within": _number(found.within),
        "between": _number(found.between),
        "reason": found.reason or None,
    }


def _number(value: float | None) -> float | str | None:
    """Rounded to digits that count; infinite ones as "inf" and "-inf"."""
    if value is None:
        return None
    if not isfinite(value):
        return "inf" if value > 0 else "-inf"
    return float(f"{value:.{_DIGITS}g}")
