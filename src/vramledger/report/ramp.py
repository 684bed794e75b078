"""A ramp on a terminal, with the table and the sentences of a knee."""

from collections.abc import Iterator
from typing import Final

from vramledger.methods.measured.subject import level_said
from vramledger.methods.ramp.found import Finding, Ramp, Stop
from vramledger.methods.ramp.prediction import Prediction
from vramledger.methods.subject import Axis, Goal
from vramledger.report.knee_table import BROKEN, curve
from vramledger.report.knee_words import both, broken, knee_sentence, level
from vramledger.report.table import table

_STOPS: Final = {
    Stop.RESTART: "the server restarted or went away",
    Stop.PREEMPTION: "the server preempted requests",
    Stop.QUEUE: "the queue grew",
    Stop.CONTRACT: "the contract broke",
    Stop.FAILURES: "requests failed",
    Stop.MOST: "the highest load that was to be tried was reached",
    Stop.NOTHING: "nothing was measured",
}
VERDICTS: Final = {
    Finding.HOLDS: "HOLDS",
    Finding.BELOW: "DOES NOT HOLD",
    Finding.NOTHING_SAFE: "DOES NOT HOLD",
    Finding.OPEN: "INCONCLUSIVE",
    Finding.STOPPED: "STOPPED",
}


def ramp_text(found: Ramp) -> str:
    """The answer as lines of text."""
    lines = [*_opening(found), f"{VERDICTS[found.finding]}: {' '.join(says(found))}"]
    if found.points:
        lines += ["", *both(found.contract, found.safe, found.axis)]
        lines.append(knee_sentence(found.knee, found.axis))
        shown = curve(found.axis, found.points)
        lines += ["", *table(shown.head, shown.rows, shown.right), BROKEN]
    lines += ["", *notes(found), f"steps       {len(found.steps)}, in {found.folder}"]
    return "\n".join(lines)


def _opening(found: Ramp) -> Iterator[str]:
    about = found.about
    origin = "REHEARSED, not measured" if found.rehearsed else "MEASURED"
    loads = "at rising rates" if found.axis is Axis.RATE else "at rising numbers in flight"
    yield f"{origin}: {about.get('workload')}, {loads}"
    named = [about[name] for name in ("model", "engine", "engine_version") if about.get(name)]
    if named:
        yield ", ".join(str(each) for each in named)
    if found.prediction is not None:
        yield _predicted(found.prediction, found.axis)


def _predicted(told: Prediction, axis: Axis) -> str:
    if told.level is None:
        return f"prediction  none: {told.why}"
    foreign = f" {' '.join(told.foreign)}" if told.foreign else ""
    if told.server:
        foreign += (
            f" It is of another deployment than the server, which has {'; '.join(told.server)}."
        )
    return (
        f"prediction  safe up to {level_said(told.level, axis)} in the simulation ({told.basis}); a place to start, and no "
        f"evidence.{foreign}"
    )


def says(found: Ramp) -> Iterator[str]:
    """The finding in sentences: the safe load, what stopped the ramp, what was asked for."""
    yield _safe(found)
    yield stop_said(found)
    if found.asked is not None:
        yield _asked(found)
    yield from found.unknown


def _safe(found: Ramp) -> str:
    limit = found.safe
    if limit.held is not None:
        return f"The safe load is {level(limit.held, found.axis)}."
    if limit.failed is None and (found.halted is not None or found.interrupted):
        return "Whether any load is safe is not known."
    return "No load that was tried is safe."


def stop_said(found: Ramp) -> str:
    """Why the ramp went no further."""
    if found.interrupted:
        return "It was stopped before its end; vram trial resume goes on."
    if found.halted is not None:
        return found.why
    if found.contract.failed is None:
        return f"It was not stopped: {_STOPS[found.stop]}."
    lines = ", ".join(broken(found.contract))
    return f"It was stopped at {level(found.contract.failed, found.axis)}, where {_STOPS[found.stop]} ({lines})."


def _asked(found: Ramp) -> str:
    wanted = level_said(found.asked or 0.0, found.axis)
    said = {
        Finding.HOLDS: f"That is as much as was asked for, {wanted}, or more.",
        Finding.BELOW: f"That is less than was asked for, {wanted}.",
        Finding.NOTHING_SAFE: f"Asked for was {wanted}.",
    }
    return said.get(
        found.finding, f"Whether the load that was asked for, {wanted}, is safe is not known."
    )


def notes(found: Ramp) -> list[str]:
    """What a reader must know of the steps, each once."""
    told = [note for point in found.points for play in point.plays for note in play.notes]
    first = found.points[0].first if found.points else None
    lines = [f"contract    {'; '.join(check.asked for check in first.contract)}"] if first else []
    if first:
        lines.append(f"safe load   beside it: {'; '.join(c.asked for c in first.headroom)}")
    again = sum(len(point.plays) > 1 for point in found.points)
    lines.append(
        f"note: A step is one trial; {again} of {len(found.points)} loads were so near a threshold that they were repeated. The ends are told to "
        f"{found.tolerance:.0%}."
    )
    return [*lines, *(f"note: {each}" for each in dict.fromkeys(told))]


def goal_lines(found: Ramp, goal: Goal) -> list[str]:
    """The lines of a goal, as the first step has them."""
    if not found.points:
        return []
    first = found.points[0].first
    return [check.asked for check in (first.contract if goal is Goal.CONTRACT else first.headroom)]
