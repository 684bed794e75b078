"""A run diagnosed: its causes ranked, and what more memory would do."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from vramledger.calibrate.run_deployment import Stated
from vramledger.diagnose.causes.registry import CAUSES
from vramledger.diagnose.controlled import Controlled, controlled
from vramledger.diagnose.counterfactual.bench import Bench, Played, bench_of
from vramledger.diagnose.counterfactual.memory import MoreMemory, more_memory
from vramledger.diagnose.counterfactual.plan_prices import plan_prices
from vramledger.diagnose.counterfactual.remedies import Remedy, remedies_of
from vramledger.diagnose.counterfactual.upgrade import Upgrade, upgrade_of
from vramledger.diagnose.evidence import Evidence, evidence_of
from vramledger.diagnose.finding import Finding, Severity, findings_of
from vramledger.diagnose.hypothesis import Hypothesis, NextChange, weighed
from vramledger.diagnose.picture import Picture, picture_of
from vramledger.diagnose.ranking import ranked
from vramledger.errors import ExitCode, VramError
from vramledger.frozen import frozen

if TYPE_CHECKING:
    from vramledger.record.run import Run


@frozen
class Judged:
    """Hypotheses of some evidence, the strongest first, and the findings among them."""

    picture: Picture
    hypotheses: tuple[Hypothesis, ...]
    findings: tuple[Finding, ...]

    @property
    def first(self) -> Hypothesis | None:
        """The strongest that was found, None where nothing was."""
        found = [each for each in self.hypotheses if each.cause.name == self.findings[0].cause]
        return found[0] if found else None

    @property
    def exit_code(self) -> ExitCode:
        """0 nothing of severity error, 1 there is, 3 nothing could be seen."""
        if any(each.severity is Severity.ERROR for each in self.findings):
            return ExitCode.DOES_NOT_HOLD
        return ExitCode.CANNOT_KNOW if self.findings[0].id == "D99" else ExitCode.HOLDS


def judged(evidence: Evidence) -> Judged:
    """Every cause held against the evidence; of a run, or of a server that was looked at for a while."""
    picture = picture_of(evidence)
    hypotheses = ranked([weighed(cause, tuple(cause.signs(picture))) for cause in CAUSES])
    nothing = not len(evidence.requests) and evidence.moments is None
    return Judged(picture, hypotheses, findings_of(hypotheses, picture, nothing_seen=nothing))


def judged_run(run: "Run", stated: Stated) -> Judged:
    """A closed run.

    Raises:
        BadInput: a table is damaged.
        UnknownName: the user named a card, model or version that is none.
    """
    return judged(evidence_of(run, stated))


@frozen
class Diagnosis:
    """A run judged, and what would follow from changes. `expected` is the next change of the first finding as the simulator has it, before and after.

    `bench` is the reason where nothing could be played. `remedies` are those of a shortage of KV cache, empty without one.
    """

    judged: Judged
    memory: MoreMemory
    expected: tuple[Played, Played] | None
    remedies: tuple[Remedy, ...] = ()
    test: Controlled | None = None
    upgrade: Upgrade | None = None
    played: int = 0
    offered: int = 0
    prices_from: str = ""  # who told the prices of remedies: given, plan, or nobody


def diagnose(
    run: "Run",
    stated: Stated,
    *,
    against: "Run | None" = None,
    upgrade: str | None = None,
    prices: Mapping[str, float] | None = None,
) -> Diagnosis:
    """A closed run, with what the simulator says of changes.

    Args:
        run: the run.
        stated: what the user says of its deployment.
        against: a run of the same load in which max_num_seqs was lowered.
        upgrade: a card that might be bought.
        prices: of a GPU and hour, by card; where there are none, those of the plan in the run count.

    Raises:
        BadInput: a table is damaged.
        UnknownName: the user named a card, model or version that is none.
    """
    found = judged_run(run, stated)
    bench = _bench(found.picture.evidence)
    change = found.findings[0].next_change
    short = [each for each in found.findings if each.cause == "kv_cache"]
    wanted = bool(short) or upgrade is not None
    told, source = _prices(run, prices)
    remedies = () if isinstance(bench, str) or not wanted else remedies_of(bench, told)
    return Diagnosis(
        judged=found,
        memory=more_memory(bench, change),
        expected=None if isinstance(bench, str) or change is None else _expected(bench, change),
        remedies=remedies,
        test=None
        if against is None
        else controlled(found.picture.evidence, evidence_of(against, Stated())),
        upgrade=None if upgrade is None else upgrade_of(bench, upgrade, found.findings, remedies),
        prices_from=source,
        played=0 if isinstance(bench, str) else len(bench.arriving),
        offered=0 if isinstance(bench, str) else bench.offered,
    )


def _prices(run: "Run", given: Mapping[str, float] | None) -> tuple[Mapping[str, float], str]:
    """The prices of cards, and who told them."""
    if given:
        return given, "given"
    plan = run.description.plan
    found = {} if plan is None else plan_prices(plan.text)
    return found, "plan" if found else ""


def _bench(evidence: Evidence) -> "Bench | str":
    try:
        return bench_of(evidence)
    except VramError as error:
        return str(error)


def _expected(bench: Bench, change: NextChange) -> tuple[Played, Played] | None:
    """The change as an engine argument, played; None where it is none or cannot be."""
    if change.flag is None or change.value is None:
        return None
    try:
        return bench.play(), bench.with_flag(change.flag, change.value).play()
    except VramError:
        return None
