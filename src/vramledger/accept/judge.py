"""Judging: the runs of a plan's scenarios, held against every line of its contract."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from vramledger.accept.beside import Beside
from vramledger.accept.groups import groups
from vramledger.accept.lines.about import RUN_JSON, About
from vramledger.accept.lines.client import NAME as CLIENT
from vramledger.accept.lines.client import client_line
from vramledger.accept.lines.done import done_line
from vramledger.accept.lines.goodput import goodput_line
from vramledger.accept.lines.latency import latency_lines
from vramledger.accept.lines.quality import quality_lines
from vramledger.accept.lines.queue import queue_line
from vramledger.accept.lines.server import server_lines
from vramledger.accept.lines.service import service_lines
from vramledger.accept.lines.success import success_line
from vramledger.accept.matching import by_scenario, other_workload
from vramledger.accept.offered import read_offered
from vramledger.accept.origins import notes_of, of_a_simulation, of_no_answers, origin_of
from vramledger.accept.reached import cut, reached
from vramledger.accept.verdict import Line, Reached, Said, ScenarioVerdict, Verdict
from vramledger.accept.work import work
from vramledger.frozen import frozen
from vramledger.plan.requirement import Form, Requirement, Scenario
from vramledger.record.document import Origin
from vramledger.statistics.estimate import LEVEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vramledger.record.run import Run

_AS_ASKED: Final = "a run that reaches what the plan asks"
_KINDS: Final = (
    latency_lines,
    success_line,
    queue_line,
    goodput_line,
    done_line,
    server_lines,
    service_lines,
)
_OF_A_SERVER: Final = "a model service shows nobody its servers and GPUs"
_UNPROVEN: Final = "Goodput is latency-valid, quality unproven."


def judge(
    runs: "Sequence[Run]", plan: Requirement, beside: Beside | None = None, level: float = LEVEL
) -> Verdict:
    """The verdict; the same runs, plan and files beside it always give the same one.

    Raises:
        BadInput: a run is neither a closed trial nor a simulation, is of no scenario of the plan, or two are of one.
    """
    found = by_scenario(runs, plan)
    known = beside or Beside()
    scenarios = tuple(
        _judged(each, found[each.name], plan, known, level)
        if each.name in found
        else _missing(each)
        for each in plan.scenarios
    )
    return Verdict(
        plan.name, str(plan.form), scenarios, level, tuple(notes_of(runs)), origin_of(runs)
    )


def _missing(scenario: Scenario) -> ScenarioVerdict:
    """A scenario without a run: nothing of it is decided."""
    why = f"no run of the scenario {scenario.name} was given"
    settles = f"a run of it: vram trial run PLAN --scenario {scenario.name}"
    asked = (*scenario.contract.lines, CLIENT)
    lines = tuple(Line(each, Said.INCONCLUSIVE, reason=why, settles=settles) for each in asked)
    return ScenarioVerdict(scenario.name, str(scenario.kind), None, None, 0, lines)


def _judged(
    scenario: Scenario, run: "Run", plan: Requirement, beside: Beside, level: float
) -> ScenarioVerdict:
    about = About(scenario, read_offered(run), level)
    load = reached(about)
    client = next(client_line(about))
    why = _open_reason(_short(about, run, beside, load), client)
    lines = [_open(line, why) for kind in _KINDS for line in kind(about)]
    if plan.form is Form.MODEL_SERVICE:
        lines = [_of_a_service(line, scenario) for line in lines]
    quality = tuple(quality_lines(about, plan.quality, beside))
    if run.description.origin is Origin.SIMULATED:
        lines = [of_a_simulation(line, scenario.contract) for line in lines]
        quality = tuple(map(of_no_answers, quality))
    done = work(about, quality)
    return ScenarioVerdict(
        name=scenario.name,
        kind=str(scenario.kind),
        run=run.path.name,
        origin=str(run.description.origin),
        offered=len(about.offered.found),
        lines=(*lines, *quality, client),
        reached=load,
        groups=groups(about),
        work=done,
        notes=(_UNPROVEN,) if done.quality_proven is False else (),
    )


def _of_a_service(line: Line, scenario: Scenario) -> Line:
    """A line that only a server's own figures decide is not judgeable there, and does not fail."""
    own = line.name in scenario.contract.server_lines or line.name.startswith("queue_s ")
    if not own:
        return line
    return Line(
        line.name, Said.NOT_JUDGEABLE, line.unit, threshold=line.threshold, reason=_OF_A_SERVER
    )


@frozen
class _Why:
    """Why nothing of a run decides anything, and what would."""

    reason: str = ""
    settles: str = ""


def _open_reason(short: str, client: Line) -> _Why:
    if client.said in (Said.PASS, Said.NOT_JUDGEABLE):
        return _Why(short, _AS_ASKED if short else "")
    reason = "; ".join(filter(None, (short, client.reason.removesuffix("."))))
    return _Why(reason, client.settles)


def _short(about: About, run: "Run", beside: Beside, load: tuple[Reached, ...]) -> str:
    """Why the run does not answer what the plan asks; empty where it does."""
    parts = [other_workload(run, beside.workloads.get(about.scenario.name)), cut(about.offered)]
    parts += [
        f"{each.name}: {_number(each.reached)} reached, {_number(each.asked)} asked"
        for each in load
        if each.enough is False
    ]
    return "; ".join(filter(None, parts))


def _number(value: float | None) -> str:
    return "nothing" if value is None else f"{value:,.4g}"


def _open(line: Line, why: _Why) -> Line:
    """The same figures, deciding nothing."""
    if not why.reason:
        return line
    records = tuple(dict.fromkeys((*line.records, RUN_JSON)))
    reason = "; ".join(filter(None, (why.reason, line.reason)))
    return replace(
        line, said=Said.INCONCLUSIVE, reason=reason, settles=why.settles, records=records
    )
