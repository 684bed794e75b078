"""The runs of a folder, as a table and as JSON."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from vramledger.printable import flat
from vramledger.report.table import table
from vramledger.trial.conduct.listing import Listed

SCHEMA: Final = "vramledger.trial-list/1"
_HEAD: Final = ("run", "origin", "began", "ended", "requests", "what")
_OPEN: Final = "not closed: vram trial resume"


def list_text(found: Sequence[Listed], folder: Path) -> str:
    """A row a run."""
    if not found:
        return f"No run lies in {folder}."
    rows = [tuple(map(flat, _row(each))) for each in found]
    return "\n".join(table(_HEAD, rows, frozenset({4})))


def list_json(found: Sequence[Listed]) -> dict[str, Any]:
    """The same; null is what is not known, and `problem` says why."""
    return {
        "schema": SCHEMA,
        "runs": [
            {
                "run": str(each.folder),
                "origin": each.origin,
                "name": each.name,
                "started_at": each.started_at,
                "ended": each.ended,
                "requests": each.requests,
                "problem": each.problem,
            }
            for each in found
        ],
    }


def _row(found: Listed) -> tuple[str, ...]:
    if found.problem is not None:
        return (found.folder.name, "", "", "", "", found.problem)
    return (
        found.folder.name,
        found.origin or "",
        (found.started_at or "").partition(".")[0],
        found.ended or _OPEN,
        "" if found.requests is None else f"{found.requests:,}",
        found.name or "",
    )
