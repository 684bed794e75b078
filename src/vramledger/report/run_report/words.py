"""The sentences that stand at the top of a report."""

from collections.abc import Sequence
from typing import Final

from vramledger.record.document import Origin
from vramledger.report.run_report.model import Report, Verdict

_WARNINGS: Final = {
    Origin.SIMULATED: "SIMULATED, not measured: nothing here was seen on a server.",
    Origin.REHEARSED: "REHEARSED on a simulated server, not measured: nothing here was seen on a real one.",
    Origin.IMPORTED: "IMPORTED from another tool: nobody here has seen its client or its clock.",
}
_LISTED: Final = 3


def heading(report: Report) -> str:
    """What the report is of."""
    return f"{'Acceptance' if report.is_acceptance else 'Report'}: {report.title}"


def warning(report: Report) -> str:
    """What has to be known before any figure is read; empty of what was measured."""
    return " ".join(_WARNINGS[each] for each in report.origins if each in _WARNINGS)


def verdict_reason(report: Report) -> str:
    """What follows the verdict's word: a colon and the reason."""
    return f": {_reason(report)}"


def _reason(report: Report) -> str:
    if report.seal is not None and report.seal.unchanged is not True:
        return "the bundle is not as it was sealed, so it decides nothing."
    if not report.runs and not report.series:
        return "there is no run."
    named = [each for each in report.rulings if each.verdict is report.verdict]
    if report.verdict is Verdict.PASS:
        count = sum(len(each.lines) for each in report.rulings)
        of = " of the contract" if report.runs else ""
        return f"the one line{of} holds." if count == 1 else f"all {count} lines{of} hold."
    lines = [each.name for one in named for each in one.lines if each.verdict is report.verdict]
    if report.verdict is Verdict.FAIL:
        broken = "the contract is not kept at" if report.runs else "not kept:"
        return f"{broken} {_listed(lines)}."
    why = next((one.why for one in named if one.why), "")
    return f"{why[0].lower()}{why[1:]}" if why else f"not decided: {_listed(lines)}."


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - _LISTED
    return ", ".join(names[:_LISTED]) + (f" and {rest} more" if rest > 0 else "")
