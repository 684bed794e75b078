"""The end of a file of trials as JSON: what is written as plan.json."""

from typing import Any, Final

from vramledger.methods.trialplan.page import ItemEnd, LineKnown, Page
from vramledger.report.trial_plan_json import item_json

SCHEMA: Final = "vramledger.trialplan-run/1"


def page_json(page: Page) -> dict[str, Any]:
    """The object that ``vram trial plan --run --json`` prints."""
    ends = page.budget.ends
    return {
        "schema": SCHEMA,
        "trials": str(page.trials.path),
        "folder": str(page.folder),
        "standing": page.standing,
        "confidence": page.confidence,
        "rehearsed": page.rehearsed,
        "interrupted": page.interrupted,
        "began": page.budget.begins.isoformat(timespec="seconds"),
        "until": None if ends is None else ends.isoformat(timespec="seconds"),
        "lines": [_line(line) for line in page.lines],
        "items": [_item(end) for end in page.items],
        "home": page.home,
        "not_home": list(page.missing),
        "not_home_reason": page.refusal or None,
    }


def _line(line: LineKnown) -> dict[str, Any]:
    found, said = line.decided, line.expected
    return {
        "scenario": line.scenario,
        "asked": line.asked,
        "known": str(line.known),
        "standing": None if found is None else found.standing,
        "found": None if found is None else found.found or None,
        "share_low": None if found is None else found.low,
        "share_high": None if found is None else found.high,
        "counted": None if found is None else found.counted,
        "independent": None if found is None else found.independent,
        "simulated_holds": None if said is None else said.holds,
        "simulated_share": None if said is None else said.share,
        "simulated_basis": None if said is None else said.basis,
        "run": None if line.run is None else str(line.run),
        "reason": line.why or None,
    }


def _item(end: ItemEnd) -> dict[str, Any]:
    return {
        **item_json(end.item),
        "run": None if end.folder is None else str(end.folder),
        "exit_code": end.code,
        "reason": end.why or None,
        "says": end.says or None,
    }
