"""A search among settings as JSON."""

from typing import Any

from vramledger.methods.sweep.compare import Swept
from vramledger.methods.sweep.found import Found, Winner
from vramledger.methods.sweep.objective import KNEE_TOLERANCE, TOLERANCE
from vramledger.methods.sweep.row import Row
from vramledger.methods.sweep.trials import Trial
from vramledger.report.sweep_trials import decides, watched


def search_json(swept: Swept) -> dict[str, Any] | None:
    """A search as JSON; rows are named by their hash. None where nothing was searched."""
    found = swept.found
    if found is None:
        return None
    best = found.best
    return {
        "objective": found.objective.name,
        "most_gpus": found.bounds.most_gpus,
        "rounds": found.rounds,
        "equal_within": {"goodput": TOLERANCE, "highest_load": KNEE_TOLERANCE},
        "holds": best is not None and best.keeps,
        "best": _hash(best),
        "best_owing_evidence": _hash(found.best_owing),
        "ranking": [row.columns["point"] for row in found.ranking],
        "winners": [_winner(winner, found) for winner in found.winners],
        "screened": {
            "share": found.share,
            "points": [_screened(row) for row in found.screened],
        },
        "trials": [_trial(trial) for trial in swept.trials],
    }


def _hash(row: Row | None) -> str | None:
    return None if row is None else row.columns["point"]


def _winner(winner: Winner, found: Found) -> dict[str, Any]:
    columns = winner.row.columns
    return {
        "point": columns["point"],
        "gpu": columns.get("gpu"),
        "gpus": columns.get("gpus"),
        "owes_evidence": winner.owes,
        "price_per_hour": winner.cost,
        "currency": found.prices.currency or None,
        "equal": [_changes(row) for row in winner.ties],
    }


def _screened(row: Row) -> dict[str, Any]:
    return {
        "changes": _changes(row),
        "status": row.status.value,
        "verdict": None if row.verdict is None else row.verdict.value,
        "reason": row.columns.get("reason"),
    }


def _changes(row: Row) -> dict[str, str]:
    return {change.name: change.value for change in row.point.changes}


def _trial(trial: Trial) -> dict[str, Any]:
    return {
        "role": trial.role,
        "point": trial.row.columns["point"],
        "command": trial.command,
        "servers": trial.servers,
        "decides": decides(trial),
        "look_at": watched(trial),
        "differences": [
            {"name": one.name, "here": one.here, "best": one.there} for one in trial.differences
        ],
    }
