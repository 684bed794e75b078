"""One candidate in the simulator: every scenario, judged."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.ledger.case import Case
from vramledger.plan.requirement import Kind, Scenario
from vramledger.simulate.answers import Answers
from vramledger.simulate.ends import with_ends
from vramledger.simulate.judged import Line
from vramledger.simulate.run import NotServed, Simulation, simulate_case
from vramledger.simulate.run import Question as Simulate
from vramledger.simulate.serving import Serving
from vramledger.simulate.timing.carrying import refusals
from vramledger.simulate.timing.coefficients import Fit
from vramledger.sizing.candidate import Candidate
from vramledger.sizing.evaluate import Choice, Evaluator
from vramledger.sizing.simulated.load import Playable
from vramledger.sizing.simulated.result import ContractLine, ScenarioRun, Seen, Simulated

Progress: TypeAlias = Callable[[int, int], None]
Announce: TypeAlias = Callable[[str], Progress]  # told what is played next
_DRAINS: Final = "the queue drains"  # as a contract's line says it
_AT_SLOW_END: Final = " at the slow end of the step times"


@frozen
class Act:
    """A scenario and what is played for it."""

    scenario: Scenario
    load: Playable


@frozen
class Stage:
    """What every candidate's simulations share."""

    evaluator: Evaluator
    acts: Sequence[Act]
    seed: int
    announce: Announce
    fit: Fit | None = None  # step times of a measured host in place of the shipped ones


def play(stage: Stage, candidate: Candidate) -> Simulated:
    """Every scenario on the candidate's replicas.

    Raises:
        BadInput: a workload that cannot be read or has nothing in it.
    """
    runs: list[ScenarioRun] = []
    not_played: list[str] = []
    for act in stage.acts:
        try:
            found = _played(stage, candidate, act)
        except CannotKnow as error:
            not_played.append(str(error))
            continue
        if isinstance(found, NotServed):
            not_played.append(found.reason)
        else:
            runs.append(found)
    return Simulated(tuple(runs), tuple(dict.fromkeys(not_played)))


def _played(stage: Stage, candidate: Candidate, act: Act) -> ScenarioRun | NotServed:
    """One scenario as expected and, where that serves it, at the slow end of the step times."""
    name = f"{candidate.accelerator.name} {candidate.placed}"
    progress = stage.announce(f"{name}, {act.scenario.name}")
    found = simulate_case(_question(stage, candidate, act), progress)
    if isinstance(found, NotServed):
        return found
    run = _run(act, found)
    if run.fails:
        return run
    progress = stage.announce(f"{name}, {act.scenario.name}{_AT_SLOW_END}")
    ends = with_ends(found, progress).ends
    return run if ends is None else _with_slow_end(run, _seen(ends.slow), act)


def _with_slow_end(run: ScenarioRun, slow: Seen, act: Act) -> ScenarioRun:
    fails = tuple(f"{reason}{_AT_SLOW_END}" for reason in _fails(slow, act))
    return replace(run, slow=slow, fails=fails, sure=not fails)


def _question(stage: Stage, candidate: Candidate, act: Act) -> Simulate:
    question, scenario = stage.evaluator.question, act.scenario
    choice = Choice(candidate.accelerator, candidate.precision, candidate.layout, candidate.extra)
    case = Case(
        launch=stage.evaluator.launch(choice),
        model=question.served_as(candidate.precision.weights).model,
        accelerator=candidate.accelerator,
        version=question.engine_version,
        memory=question.memory,
    )
    return Simulate(
        case=case,
        part=act.load.part,
        scenario=scenario.name,
        replicas=candidate.replicas,
        seed=stage.seed,
        contract=scenario.contract,
        headroom=scenario.headroom,
        kind=scenario.kind,
        serving=Serving(closed=act.load.in_flight),
        fit=stage.fit,
    )


def _run(act: Act, found: Simulation) -> ScenarioRun:
    main = _seen(found.main.answers)
    return ScenarioRun(
        scenario=act.scenario.name,
        load=act.load.said,
        people_wait=act.scenario.kind is Kind.LATENCY,
        main=main,
        without_hits=None if found.own is None else _seen(found.no_hits.answers),
        fails=tuple(_fails(main, act)),
        basis=str(found.basis),
        notes=found.notes,
        evidence=not refusals(found.deployment, found.question.fit),
    )


def _seen(found: Answers) -> Seen:
    latency = found.latency
    return Seen(
        ttft_p95_s=latency["ttft_s"].p95,
        tpot_p95_s=latency["tpot_s"].p95,
        queue_p95_s=latency["queue_s"].p95,
        e2e_p95_s=latency["e2e_s"].p95,
        kv_p99=found.levels.kv_usage.p99,
        goodput_per_hour=found.goodput_per_hour,
        queue_drains=found.queue_drains,
        preemptions=found.recomputing.preemptions,
        requests=found.requests,
        lines=tuple(map(_line, found.lines)),
        stuck=found.stuck,
        serves=found.served_anybody,
    )


def _line(line: Line) -> ContractLine:
    amount = line.amount
    latency = amount is not None and amount.name.endswith("_s")
    used = amount.value / amount.threshold if amount is not None and latency else None
    if line.few is not None:  # nobody is told to buy on so few
        few = f"{line.found} of {line.few.counted:,} requests, and {line.few.needed:,} are needed"
        return ContractLine(line.asked, few, False, used)
    return ContractLine(line.asked, line.found, line.holds, used)


def _fails(seen: Seen, act: Act) -> list[str]:
    """Lines of the contract that fail; and a load that is not kept up, whatever the contract says."""
    found = [f"{line.asked} ({line.found})" for line in seen.lines if line.holds is False]
    if seen.stuck:
        found.append(seen.stuck)
    elif _overloaded(seen, act):
        found.append("the queue grows as long as requests arrive")
    if not seen.serves:
        found.append("no request is answered in time")
    return found


def _overloaded(seen: Seen, act: Act) -> bool:
    """Whether people wait ever longer and no line of the contract says so; work of the night may wait."""
    told = any(line.asked == _DRAINS for line in seen.lines)
    arriving = act.load.in_flight is None and act.scenario.kind is Kind.LATENCY
    return arriving and not seen.queue_drains and not told
