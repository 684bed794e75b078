"""Repetitions as the object that ``vram trial repeat --json`` prints, and that repeat.json holds."""

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import Any, Final

from vramledger.methods.repeated.between import CONFIDENCE, OfRuns
from vramledger.methods.repeated.figures import FigureOfRuns
from vramledger.methods.repeated.lines import LineOfRuns
from vramledger.methods.repeated.pairs import Difference
from vramledger.methods.repeated.result import Compared, Repeated, SideOf
from vramledger.methods.repeated.series import SCHEMA, Attempt, Series

_DIGITS: Final = 6


def repeat_json(
    folder: Path, series: Series, found: Repeated, others: Sequence[Attempt]
) -> dict[str, Any]:
    """Figures are seconds, shares (0..1) or a second's count, by their names; what falls among failures is "inf"."""
    done = sum(len(side.runs) for side in found.sides)
    return {
        "schema": SCHEMA,
        "folder": str(folder),
        "asked": series.to_json(),
        "runs_asked": len(series.turns),
        "runs_done": done,
        "verdict": _verdict(found),
        "inconclusive": list(found.inconclusive),
        "confidence": CONFIDENCE,
        "sides": [_side(each) for each in found.sides],
        "compared": None if found.compared is None else _compared(found.compared),
        "left_out": [
            {"run": each.folder.name, "ended": None if each.ended is None else each.ended.value}
            for each in others
        ],
    }


def _verdict(found: Repeated) -> str | None:
    """holds, fails or not decided, of all contracts together; null without one."""
    from vramledger.methods.measured.contract import whole

    standing = whole(side.standing for side in found.sides if side.standing is not None)
    return None if standing is None else str(standing)


def _side(found: SideOf) -> dict[str, Any]:
    return {
        "side": None if found.side is None else str(found.side),
        "server": found.runs[0].summary.trial["server"],
        "basis": found.runs[0].about.origin.value,
        "runs": [
            {
                "run": each.folder.name,
                "seed": each.turn.seed,
                "offered": each.summary.offered,
                "ok": each.summary.requests["ok"],
                "started_at": each.about.started_at,
            }
            for each in found.runs
        ],
        "figures": [_figure(each) for each in found.figures],
        "contract": None if found.standing is None else _contract(found),
        "inconclusive": list(found.inconclusive),
    }


def _contract(found: SideOf) -> dict[str, Any]:
    return {
        "standing": str(found.standing),
        "more_runs": found.more,
        "lines": [_line(each) for each in found.lines],
    }


def _line(found: LineOfRuns) -> dict[str, Any]:
    return {
        "asked": found.line.asked,
        "pooled": found.line.found,
        "runs": None if found.runs is None else _of_runs(found.runs),
        "standing": str(found.standing),
        "reason": found.why or None,
        "more_runs": found.more,
    }


def _figure(found: FigureOfRuns) -> dict[str, Any]:
    return {
        "name": found.name,
        "statistic": found.statistic,
        "pooled": _number(found.pooled),
        "count": found.count,
        "runs": None if found.runs is None else _of_runs(found.runs),
    }


def _of_runs(found: OfRuns) -> dict[str, Any]:
    return {
        "values": [_number(each) for each in found.values],
        "mean": _number(found.mean),
        "low": _number(found.low),
        "high": _number(found.high),
        "spread": _number(found.spread),
        "within": _number(found.within),
        "between": _number(found.between),
    }


def _compared(found: Compared) -> dict[str, Any]:
    return {
        "pairs": found.pairs,
        "differ_in": list(found.attribution.differences),
        "told_by_one": list(found.attribution.untold),
        "not_attributed": found.attribution.refused,
        "differences": [_difference(each) for each in found.differences],
    }


def _difference(found: Difference) -> dict[str, Any]:
    return {
        "name": found.name,
        "statistic": found.statistic,
        "mean_of_a": _number(found.base),
        "b_less_a": _of_runs(found.pairs),
        "differs": found.told,
        "more_pairs": found.more,
    }


def _number(value: float | None) -> float | str | None:
    """Rounded; infinite ones as "inf" and "-inf"."""
    if value is None:
        return None
    return round(value, _DIGITS) if isfinite(value) else ("inf" if value > 0 else "-inf")
