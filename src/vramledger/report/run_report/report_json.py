"""The report as JSON: ``vramledger.report/1``."""

from collections.abc import Iterable
from math import isfinite, isinf
from typing import TYPE_CHECKING, Any, Final

from vramledger.accept.verdict_json import group_json, reached_json, work_json
from vramledger.report.run_report.model import (
    Beside,
    Percentiles,
    Report,
    RuledLine,
    Ruling,
    RunReport,
    Seal,
    Terms,
    whole,
)
from vramledger.report.run_report.words import heading, warning

if TYPE_CHECKING:
    from vramledger.record.overview.bands import Bands
    from vramledger.record.overview.levels import Binned
    from vramledger.report.series_report.model import SeriesReport
    from vramledger.trial.conduct.timeline import Timeline

SCHEMA: Final = "vramledger.report/1"
_DIGITS: Final = 6


def report_json(report: Report) -> dict[str, Any]:
    """The object that is written, and that ``--json`` prints."""
    return {
        "schema": SCHEMA,
        "title": heading(report),
        "verdict": str(report.verdict),
        "basis": [each.value for each in report.origins],
        "warning": warning(report) or None,
        "open_points": list(report.open_points),
        "runs": [_run(each) for each in report.runs],
        "series": [_series(each) for each in report.series],
        "missing": [
            {"scenario": each.scenario, "lines": [_line(line) for line in each.ruling.lines]}
            for each in report.missing
        ],
        "bundle": None if report.seal is None else _seal(report.seal),
        "terms": None if report.terms is None else _terms(report.terms),
    }


def _run(run: RunReport) -> dict[str, Any]:
    return {
        "name": run.name,
        "basis": run.origin.value,
        "scenario": run.description.scenario,
        "sha256": run.description.sha256,
        "verdict": str(run.ruling.verdict),
        "reason": run.ruling.why or None,
        "lines": [_line(each) for each in run.ruling.lines],
        **_judged(run.ruling),
        "requests": dict(run.counts),
        "percentiles": {each.name: _percentiles(each) for each in run.percentiles},
        "ledger": {
            "of": run.ledger.of or None,
            "reason": run.ledger.why or None,
            "rows": [_beside(each) for each in run.ledger.rows],
        },
        "client": [] if run.summary is None else [each.to_json() for each in run.summary.healths],
        "about": dict(run.about),
        "open_points": list(run.open_points),
        "timeline": None if run.timeline is None else _timeline(run.timeline),
    }


def _series(found: "SeriesReport") -> dict[str, Any]:
    return {
        "name": found.name,
        "kind": str(found.kind),
        "basis": [each.value for each in found.origins],
        "verdict": str(whole([each.verdict for each in found.rulings])),
        "says": list(found.says),
        "rulings": [
            {
                "scenario": each.scenario,
                "verdict": str(each.verdict),
                "reason": each.why or None,
                "lines": [_line(line) for line in each.lines],
            }
            for each in found.rulings
        ],
        "open_points": list(found.open_points),
        "result": dict(found.document),
    }


def _judged(ruling: Ruling) -> dict[str, Any]:
    """What stands beside the lines; null where no plan was at hand."""
    found = ruling.judged
    if found is None:
        return {"reached": None, "groups": None, "work": None}
    return {
        "reached": [reached_json(each) for each in found.reached],
        "groups": [group_json(each) for each in found.groups],
        "work": work_json(found.work),
    }


def _line(line: RuledLine) -> dict[str, Any]:
    return {
        "name": line.name,
        "verdict": str(line.verdict),
        "value": _number(line.value),
        "low": _number(line.low),
        "high": _number(line.high),
        "threshold": _number(line.threshold),
        "unit": line.unit or None,
        "found": line.found,
        "reason": line.reason or None,
        "settles": line.settles or None,
        "records": list(line.records),
    }


def _percentiles(found: Percentiles) -> dict[str, Any]:
    told = {name: _number(getattr(found, name)) for name in ("p50", "p95", "p99", "max")}
    return told | {"count": found.count}


def _beside(found: Beside) -> dict[str, Any]:
    return {
        "name": found.name,
        "unit": found.unit,
        "predicted": {"value": found.expected, "low": found.low, "high": found.high, "basis": found.basis},
        "measured": found.measured,
        "inside_band": found.inside,
        "reason": found.said or None,
    }  # fmt: skip


def _timeline(found: "Timeline") -> dict[str, Any]:
    """Arrays with an entry a bin."""
    return {
        "from_s": _number(float(found.edges_s[0])),
        "to_s": _number(float(found.edges_s[-1])),
        "bins": len(found.edges_s) - 1,
        "rate_bins": len(found.rate_edges_s) - 1,
        "offered_per_s": _binned(found.offered_per_s),
        "ended_per_s": _binned(found.ended_per_s),
        "in_flight": _binned(found.in_flight),
        "levels": {name: _binned(each) for name, each in found.levels.items()},
        "preempted": None if found.preempted is None else _numbers(found.preempted.tolist()),
        "gpu_bytes": {name: _binned(each) for name, each in found.gpu_bytes.items()},
        "latency": {name: _bands(each) for name, each in found.latency.items()},
    }


def _binned(found: "Binned") -> dict[str, Any]:
    return {name: _numbers(getattr(found, name).tolist()) for name in ("mean", "low", "high")}


def _bands(found: "Bands") -> dict[str, Any]:
    told = {name: _numbers(values.tolist()) for name, values in found.values.items()}
    return {"at_s": _numbers(found.at.tolist()), "count": found.count.tolist(), **told}


def _seal(seal: Seal) -> dict[str, Any]:
    return {
        "sha256": seal.sha256,
        "unchanged": seal.unchanged,
        "signed_by": seal.signed_by,
        "people": dict(seal.people),
        "checks": [
            {"name": each.name, "standing": each.standing, "message": each.said}
            for each in seal.checks
        ],
        "message": seal.said or None,
    }


def _terms(terms: Terms) -> dict[str, str | None]:
    names = ("buyer", "supplier", "order", "on_pass", "on_fail", "on_inconclusive")
    return {name: getattr(terms, name) or None for name in names}


def _numbers(values: Iterable[float]) -> list[float | str | None]:
    return [_number(value) for value in values]


def _number(value: float | None) -> float | str | None:
    """To six digits; what falls among failures is "inf", what is not known null."""
    if value is None or not isfinite(value):
        return "inf" if value is not None and isinf(value) else None
    return float(f"{value:.{_DIGITS}g}")
