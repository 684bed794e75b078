"""The contract of runs, held against them: the one place from which a report's verdict comes.

With a plan at hand it is that of `accept.judge`, with intervals. Else it is the contract that the run carries, with the
figures of this one run.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from vramledger.accept.beside import read_beside
from vramledger.accept.judge import judge
from vramledger.accept.verdict import Line, ScenarioVerdict
from vramledger.accept.verdict import Verdict as AcceptVerdict
from vramledger.errors import VramError
from vramledger.frozen import frozen
from vramledger.methods.measured.contract import Promise, Standing, promised
from vramledger.plan.read import parse_plan
from vramledger.record.document import Origin
from vramledger.report.run_report.model import Missing, RuledLine, Ruling, Verdict
from vramledger.report.simulation_contract import asked_text, found_text
from vramledger.report.verdict import shown

if TYPE_CHECKING:
    from vramledger.plan.requirement import Requirement
    from vramledger.record.run import Run
    from vramledger.trial.conduct.summary import Summary

STANDINGS: Final = {
    Standing.HOLDS: Verdict.PASS,
    Standing.FAILS: Verdict.FAIL,
    Standing.OPEN: Verdict.INCONCLUSIVE,
    None: Verdict.INCONCLUSIVE,
}
NOTHING_PROMISED: Final = "The run was made without a contract, so nothing was promised; make it with a plan that has one."
_SIMULATED: Final = "A simulated run keeps no contract in its record; vram simulate says what a contract comes to, and nobody signs for it."
_NO_INTERVALS: Final = "The plan cannot be read here, so these are figures of this one run without intervals; name the plan with --plan: "


_NOT_BY_PLAN: Final = "By the plan in the bundle nothing can be judged ({}), so these are figures of each run without intervals."


@frozen
class ByPlan:
    """What a bundle comes to by the plan in it; None with the reason where it cannot be judged so."""

    verdict: AcceptVerdict | None
    why: str = ""


@frozen
class Rulings:
    """By the name of a run's folder; `missing` are scenarios of the plan without a run."""

    of: Mapping[str, Ruling]
    missing: tuple[Missing, ...] = ()
    notes: tuple[str, ...] = ()


def rulings(
    runs: "Sequence[Run]",
    summaries: "Sequence[Summary | None]",
    plan: "Requirement | None",
    *,
    is_whole: bool,
    sealed: "ByPlan | None" = None,
) -> Rulings:
    """Every run's ruling.

    Args:
        runs: the runs.
        summaries: of each of them, None of what is no trial.
        plan: the plan that was named; None takes the one that each run carries.
        is_whole: whether every scenario of a plan should have its run here.
        sealed: what a bundle comes to by its own plan, where the runs are in one; no file that a plan in it names is opened here.

    Raises:
        BadInput: a run is of no scenario of the plan that was named, or two are of one; or one is damaged.
    """
    trials = [run for run, summary in zip(runs, summaries, strict=True) if summary is not None]
    if plan is not None:
        found = _judged(trials, plan, is_whole=True) if trials or not runs else Rulings({})
    elif sealed is not None:
        found = _of_bundle(sealed, is_whole=is_whole)
    else:
        found = _as_carried(trials, is_whole=is_whole)
    of = {
        run.path.name: found.of.get(run.path.name) or _own(run, summary)
        for run, summary in zip(runs, summaries, strict=True)
    }
    return Rulings(of, found.missing, found.notes)


def _as_carried(runs: "Sequence[Run]", *, is_whole: bool) -> Rulings:
    """Of the runs whose own plan can be read here, by that plan."""
    of: dict[str, Ruling] = {}
    missing: list[Missing] = []
    notes: list[str] = []
    for group in _groups(runs):
        text = group[0].description.plan
        try:
            carried = None if text is None else parse_plan(text.text, "the plan in run.json")
            told = None if carried is None else _judged(group, carried, is_whole=is_whole)
        except VramError as error:
            notes.append(f"{', '.join(each.path.name for each in group)}: {_NO_INTERVALS}{error}")
            continue
        if told is not None:
            of |= told.of
            missing += told.missing
            notes += told.notes
    return Rulings(of, tuple(missing), tuple(notes))


def _groups(trials: "Sequence[Run]") -> "list[list[Run]]":
    """Runs of one plan together, where each is of a scenario of its own; else each by itself."""
    by_plan: dict[str, list[Run]] = {}
    for run in trials:
        if run.description.plan is not None:
            by_plan.setdefault(run.description.plan.sha256, []).append(run)
    found: list[list[Run]] = []
    for group in by_plan.values():
        scenarios = {each.description.scenario for each in group}
        found += [group] if len(scenarios) == len(group) else [[each] for each in group]
    return found


def _judged(runs: "Sequence[Run]", plan: "Requirement", *, is_whole: bool) -> Rulings:
    return _told(judge(runs, plan, read_beside(plan)), is_whole=is_whole)


def _of_bundle(sealed: "ByPlan", *, is_whole: bool) -> Rulings:
    if sealed.verdict is not None:
        return _told(sealed.verdict, is_whole=is_whole)
    return Rulings({}, (), (_NOT_BY_PLAN.format(sealed.why.removesuffix(".")),))


def _told(verdict: AcceptVerdict, *, is_whole: bool) -> Rulings:
    of = {each.run: _ruling(each) for each in verdict.scenarios if each.run is not None}
    missing = [Missing(each.name, _ruling(each)) for each in verdict.scenarios if each.run is None]
    notes = (*verdict.notes, *(note for each in verdict.scenarios for note in each.notes))
    return Rulings(of, tuple(missing) if is_whole else (), notes)


def _ruling(found: ScenarioVerdict) -> Ruling:
    return Ruling(
        Verdict(found.said), tuple(map(_line, found.lines)), scenario=found.name, judged=found
    )


def _line(line: Line) -> RuledLine:
    return RuledLine(
        line.name,
        Verdict(line.said),
        "" if line.value is None else shown(line.value, line.unit),
        unit=line.unit,
        value=line.value,
        low=line.low,
        high=line.high,
        threshold=line.threshold,
        reason=line.reason,
        settles=line.settles,
        records=line.records,
    )


def _own(run: "Run", summary: "Summary | None") -> Ruling:
    """By the contract that the run carries; INCONCLUSIVE where nothing was promised."""
    if summary is None:
        simulated = run.description.origin is Origin.SIMULATED
        return Ruling(Verdict.INCONCLUSIVE, (), _SIMULATED if simulated else NOTHING_PROMISED)
    found = promised(summary)
    if found.standing is None:
        return Ruling(Verdict.INCONCLUSIVE, (), NOTHING_PROMISED)
    why = " ".join(summary.inconclusive)
    lines = tuple(map(_promise, found.lines))
    return Ruling(STANDINGS[found.standing], lines, why, found.scenario)


def _promise(promise: Promise) -> RuledLine:
    line, amount = promise.line, promise.line.amount
    name = "" if amount is None else amount.name
    return RuledLine(
        asked_text(line),
        STANDINGS[promise.standing],
        found_text(line),
        unit="s" if name.endswith("_s") else "0..1" if name == "success" else "",
        value=None if amount is None else amount.value,
        threshold=None if amount is None else amount.threshold,
        reason=promise.why,
    )
