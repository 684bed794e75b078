"""The contract of a run, held against it: the one place from which a report's verdict comes."""

from typing import TYPE_CHECKING, Final

from vramledger.methods.measured.contract import Promise, Standing, promised
from vramledger.record.document import Origin
from vramledger.report.run_report.model import RuledLine, Ruling, Verdict
from vramledger.report.simulation_contract import asked_text, found_text

if TYPE_CHECKING:
    from vramledger.record.document import Description
    from vramledger.trial.conduct.summary import Summary

_SAID: Final = {
    Standing.HOLDS: Verdict.PASS,
    Standing.FAILS: Verdict.FAIL,
    Standing.OPEN: Verdict.INCONCLUSIVE,
    None: Verdict.INCONCLUSIVE,
}
NOTHING_PROMISED: Final = "The run was made without a contract, so nothing was promised; make it with a plan that has one."
_SIMULATED: Final = "A simulated run keeps no contract in its record; vram simulate says what a contract comes to, and nobody signs for it."
_FEW: Final = "values, and such a percentile needs"


def ruled(description: "Description", summary: "Summary | None") -> Ruling:
    """The ruling of a run; INCONCLUSIVE where nothing was promised.

    Raises:
        BadInput: what run.json holds is no contract, or a table is damaged.
    """
    if summary is None:
        simulated = description.origin is Origin.SIMULATED
        return Ruling(Verdict.INCONCLUSIVE, (), _SIMULATED if simulated else NOTHING_PROMISED)
    found = promised(summary)
    if found.standing is None:
        return Ruling(Verdict.INCONCLUSIVE, (), NOTHING_PROMISED)
    why = " ".join(summary.inconclusive)
    return Ruling(_SAID[found.standing], tuple(map(_line, found.lines)), why)


def _line(promise: Promise) -> RuledLine:
    line, amount = promise.line, promise.line.amount
    return RuledLine(
        asked_text(line),
        _SAID[promise.standing],
        found_text(line),
        value=None if amount is None else amount.value,
        threshold=None if amount is None else amount.threshold,
        reason=promise.why,
    )
