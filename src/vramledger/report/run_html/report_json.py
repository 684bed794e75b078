"""The report as JSON: ``vramledger.report/1``."""

from typing import Any

from vramledger.report.bundle_json import verified_json
from vramledger.report.run_html.shown import Shown
from vramledger.report.run_html.tables import open_points
from vramledger.report.trial_contract import contract_json
from vramledger.report.trial_json import trial_json


def report_json(shown: Shown) -> dict[str, Any]:
    """The verdict, each run as `vram trial show --json` tells it, and the bundle as `vram verify --json` does."""
    return {
        "schema": "vramledger.report/1",
        "title": shown.title,
        "verdict": shown.verdict,
        "basis": shown.mark.strip(" ()") or "measured",
        "open_points": open_points(shown),
        "runs": [
            trial_json(run.summary) | {"name": run.name, "contract": contract_json(run.contract)}
            for run in shown.runs
        ],
        "bundle": None if shown.verified is None else verified_json(shown.verified),
    }
