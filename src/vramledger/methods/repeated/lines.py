"""The contract of a plan, held against several runs: a line is decided where the interval of its figure is on one side.

The figure of a line is worked out for each run; `between` has the interval of its mean. A share of requests (success) is held
against the exact binomial interval of all requests together as well (C. J. Clopper and E. S. Pearson, Biometrika 26, 1934,
404-413), because runs without a failure do not scatter at all, and that is no certainty.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import isinf
from typing import TYPE_CHECKING, Final

from vramledger.frozen import frozen
from vramledger.methods.measured.contract import Standing, held_against
from vramledger.methods.repeated.between import CONFIDENCE, FEWEST, OfRuns, more_runs, of_runs
from vramledger.methods.repeated.one_run import OneRun, pooled
from vramledger.plan.contract_json import contract_from_json
from vramledger.plan.requirement import Contract

if TYPE_CHECKING:
    from vramledger.simulate.judged import Amount, Line, Served

_AT_LEAST: Final = frozenset({"success", "requests_per_hour"})  # what must not be lower
_NOT_HELD: Final = "it is not among what a trial is held against"


@frozen
class LineOfRuns:
    """One line: `line` over all requests together, the figure of each run, and what the two come to.

    `more` is how many more runs would decide an open line if figures stay as they are; None where none of a sensible number would.
    """

    line: "Line"
    runs: OfRuns | None
    standing: Standing
    why: str = ""
    more: int | None = None


def contract_of(runs: Sequence[OneRun]) -> Contract | None:
    """What the runs were made for; None where nothing was promised.

    Raises:
        BadInput: what run.json holds is no contract.
    """
    stated = runs[0].summary.trial.get("contract")
    return None if stated is None else contract_from_json(stated)


def lines_of_runs(runs: Sequence[OneRun], contract: Contract) -> tuple[LineOfRuns, ...]:
    """Every line of the contract."""
    whole = pooled(tuple(runs))
    together = held_against(contract, whole)
    each = [held_against(contract, one.served) for one in runs]
    reasons = {r.line: r.why for one in runs for r in one.summary.unjudgeable}
    return tuple(
        _line(line, [found[place] for found in each], reasons, whole)
        for place, line in enumerate(together)
    )


def _line(
    line: "Line", each: "Sequence[Line]", reasons: dict[str, str], whole: "Served"
) -> LineOfRuns:
    if line.amount is None:
        return LineOfRuns(
            line, None, Standing.OPEN, _NOT_HELD if line.found == "not checked" else ""
        )
    values = [one.amount.value for one in each if one.amount is not None]
    if len(values) < max(len(each), FEWEST):
        return LineOfRuns(line, None, Standing.OPEN, _without_value(len(values), len(each)))
    found = of_runs(values)
    if line.amount.name == "success":
        found = _with_binomial(found, whole)
    why = reasons.get(line.asked.split(" ", 1)[0], "") or _few(each)
    if why:
        return LineOfRuns(line, found, Standing.OPEN, why)
    standing = _standing(line.amount, found)
    more = more_runs(found, line.amount.threshold) if standing is Standing.OPEN else 0
    return LineOfRuns(line, found, standing, _open_words(found) if more is None else "", more)


def _without_value(count: int, runs: int) -> str:
    if runs < FEWEST:
        return "one run has no interval; repeat it"
    return f"only {count} of {runs} runs have such a figure"


def _few(each: "Sequence[Line]") -> str:
    """A clause where some run is too small for the percentile: more of the same do not mend that."""
    few = [line.few for line in each if line.few is not None]
    if not few:
        return ""
    least = min(few, key=lambda one: one.counted)
    return (
        f"a run has {least.counted:,} values where such a percentile needs {least.needed:,}; make the runs longer with --for, "
        "more of them do not help"
    )


def _standing(amount: "Amount", found: OfRuns) -> Standing:
    threshold = amount.threshold
    if amount.name in _AT_LEAST:
        holds, fails = found.low >= threshold, found.high < threshold
    else:
        holds, fails = found.high <= threshold, found.low > threshold
    if holds:
        return Standing.HOLDS
    return Standing.FAILS if fails else Standing.OPEN


def _open_words(found: OfRuns) -> str:
    failing = sum(map(isinf, found.values))
    if failing:
        return f"in {failing} of {len(found.values)} runs it falls among failures"
    return "the figure lies at the threshold, so that no sensible number of repetitions decides it"


def _with_binomial(found: OfRuns, whole: "Served") -> OfRuns:
    """The wider of the two intervals at either end; the cancelled ones are not counted among the requests."""
    from scipy.stats import binomtest

    counted = int((whole.ok | ~whole.cancelled).sum())
    exact = binomtest(int(whole.ok.sum()), counted).proportion_ci(CONFIDENCE, "exact")
    return replace(found, low=max(min(found.low, exact.low), 0.0), high=min(max(found.high, exact.high), 1.0))  # fmt: skip
