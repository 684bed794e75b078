"""What the raw records of a run come to, made of them alone: what is sealed, and what is made again when it is checked."""

from typing import TYPE_CHECKING, Any, Final

from vramledger.bundle.judged import judged
from vramledger.bundle.series import REPEAT, series_in
from vramledger.bundle.series_verdict import FAIL, OPEN, PASS, number, series_verdict
from vramledger.errors import VramError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from vramledger.bundle.contents import Placed
    from vramledger.record.run import Run

_SAID: Final = {"holds": PASS, "fails": FAIL, "not decided": OPEN}


def verdict_of(placed: "Sequence[Placed]", folder: "Path") -> dict[str, Any]:
    """That of `accept` where the plan in the bundle can be read, else of each run what it carries.

    Of each run: its requests by outcome, every line of its contract, and the whole. `verdict` is that of all.

    One that fails decides, then one that is open; a run without a contract is open. The runs of a series count as that; a soak
    in which nothing grows keeps no contract by that alone.
    """
    alone = [each for each in placed if not each.is_of_series]
    found = [_of(each.run) for each in alone]
    series = [series_verdict(each, folder) for each in series_in(folder, placed)]
    decided = {name for each in series for name in each.get("scenarios", ())}
    accepted, why = judged(alone, folder, decided)
    said = [each["verdict"] for each in found] if accepted is None else [accepted["verdict"]]
    said += [
        each["verdict"] for each in series if each["kind"] == REPEAT or each["verdict"] != PASS
    ]
    whole = next((each for each in (FAIL, OPEN, PASS) if each in said), OPEN)
    return {
        "verdict": whole,
        "accepted": accepted,
        "not_accepted": why,
        "series": series,
        "runs": found,
    }


def _of(run: "Run") -> dict[str, Any]:
    """One run; what cannot be judged says why."""
    try:
        return _judged(run)
    except (VramError, KeyError, TypeError, ValueError) as error:
        why = str(error) if isinstance(error, VramError) else "it has no record of a trial"
        return {"verdict": OPEN, "reason": why.replace(str(run.path), "the run"), "lines": []}


def _judged(run: "Run") -> dict[str, Any]:
    from vramledger.methods.measured.contract import promised
    from vramledger.trial.conduct.summary import summarise

    summary = summarise(run)
    contract = promised(summary)
    standing = contract.standing
    reasons = list(summary.inconclusive)
    if standing is None:
        reasons.append("the run was made without a contract")
    return {
        "verdict": OPEN if standing is None else _SAID[str(standing)],
        "reason": "; ".join(reasons) or None,
        "scenario": contract.scenario,
        "offered": summary.offered,
        "requests": dict(summary.requests),
        "lines": [
            {
                "name": each.line.asked,
                "found": each.line.found,
                "verdict": _SAID[str(each.standing)],
                "value": number(None if each.line.amount is None else each.line.amount.value),
                "threshold": number(
                    None if each.line.amount is None else each.line.amount.threshold
                ),
                "reason": each.why or None,
            }
            for each in contract.lines
        ],
    }
