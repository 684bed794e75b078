"""A sweep as JSON: ``vramledger.sweep/1``."""

import json
from math import isinf
from typing import Any, Final

from vramledger.methods.sweep.columns import FIGURES, NO_HITS, OWN, RESULTS
from vramledger.methods.sweep.compare import Compared, Swept
from vramledger.methods.sweep.row import Row
from vramledger.methods.sweep.tensor_steps import TensorStep
from vramledger.report.sweep_search_json import search_json

SCHEMA: Final = "vramledger.sweep/1"
_HEAD: Final = tuple(
    name
    for name in RESULTS.columns
    if not name.startswith((OWN, NO_HITS)) and name not in ("changes", "broken", "notes")
)


def to_json(found: Swept) -> dict[str, Any]:
    """The object; infinite figures are the text "inf", what is not known is null."""
    question = found.base.question
    contract = question.contract
    return {
        "schema": SCHEMA,
        "origin": "simulated",
        "workload": question.part.workload.name,
        "scenario": question.scenario,
        "rate_scale": question.part.rate_scale,
        "seed": question.seed,
        "contract": [] if contract is None else list(contract.lines),
        "asked": found.results.asked,
        "done": len(found.rows),
        "reused": found.results.reused,
        "interrupted": found.results.interrupted,
        "best": None if found.best is None else found.best.columns["point"],
        "base": None if found.start is None else _row(found.start),
        "points": [_compared(point) for point in found.points],
        "tensor_steps": [_tensor_step(step) for step in found.tensor_steps],
        "search": search_json(found),
    }


def _compared(point: Compared) -> dict[str, Any]:
    return {
        **_row(point.row),
        "effects": {
            effect.name: {
                "difference": _plain(effect.difference),
                "ratio": _plain(effect.ratio),
            }
            for effect in point.effects
        },
        "broke": list(point.broke),
        "mended": list(point.mended),
    }


def _tensor_step(step: TensorStep) -> dict[str, Any]:
    link = step.link
    return {
        "changes": step.label,
        "tp": [step.before, step.after],
        "gpu": step.gpu or None,
        "server_gpus": step.server_gpus or None,
        "in_flight": step.in_flight,
        "link": None
        if link is None
        else {"kind": "PCIe" if link.pcie else "fabric", "gb_per_s": link.bytes_per_s / 1e9},
        "basis": "derived",
        "kv_pool_end": step.end,
        "reason": step.reason or None,
        "figures": [
            {
                "name": turn.name,
                "before": turn.before,
                "after": turn.after,
                "engines": list(turn.engines),
                "rises": turn.rises,
                "sign_changes_at_gb_per_s": [rate / 1e9 for rate in turn.at],
                "rises_on_faster_links": turn.rises_above,
            }
            for turn in step.turns
        ],
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "changes": {change.name: change.value for change in row.point.changes},
        **{name: row.columns.get(name) for name in _HEAD},
        "broken": sorted(row.broken),
        "notes": list(row.notes),
        "own": _figures(row, OWN) if row.has_own else None,
        "no_hits": _figures(row, NO_HITS) if row.simulated else None,
    }


def _figures(row: Row, prefix: str) -> dict[str, Any]:
    found = {name: _plain(row.figure(name, prefix)) for name in FIGURES}
    return {**found, "binding": json.loads(found["binding"])}


def _plain(value: Any) -> Any:
    return "inf" if isinstance(value, float) and isinf(value) else value
