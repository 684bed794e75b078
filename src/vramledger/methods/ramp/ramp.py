"""A ramp, whole: steps from below until something says stop, the end refined, the safe load beside it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from vramledger.frozen import frozen
from vramledger.methods.knee.curve import greatest
from vramledger.methods.knee.find import find_limits
from vramledger.methods.knee.probes import Probes
from vramledger.methods.knee.search import limit_of
from vramledger.methods.measured.observed import Judging
from vramledger.methods.measured.subject import Halt, Halted, MeasuredSubject, Step, Stepping
from vramledger.methods.ramp.found import Ramp
from vramledger.methods.ramp.prediction import Prediction
from vramledger.methods.subject import Goal, Range
from vramledger.record.description import read_description
from vramledger.trial.conduct.asked import TrialAsked
from vramledger.trial.conduct.watch import Watch


@frozen
class RampAsked:
    """A ramp: the trial that each step is, which levels, how they are judged, and how near the ends are to be told.

    `least` is the level that the plan needs, None where nothing says.
    """

    trial: TrialAsked
    levels: Range
    judging: Judging
    stepping: Stepping
    tolerance: float
    least: float | None = None
    prediction: Prediction | None = None


def ramp(asked: RampAsked, folder: Path, watch: Watch, keep: Callable[[Step], None]) -> Ramp:
    """Search a live server's end from below; an interrupt, or a step that tells nothing, ends it with what was found.

    Raises:
        BadInput: the server or the load cannot be used at all.
        CannotKnow: nothing is answered at the first step.
    """
    subject = MeasuredSubject(
        asked.trial, folder, asked.levels, asked.judging, asked.stepping, watch, keep
    )
    probes = Probes(subject, lambda _done, _of_all: None)
    ended: dict[str, Any] = {}
    try:
        find_limits(probes, asked.tolerance)
        _play_asked(probes, asked.least)
    except Halted as halted:
        if not probes.points and halted.halt is Halt.BUSY:
            raise
        ended = {"halted": halted.halt, "why": str(halted)}
    except KeyboardInterrupt:
        ended = {"interrupted": True}
    contract, safe = (limit_of(probes, goal) for goal in Goal)
    return Ramp(
        folder=folder,
        axis=asked.levels.axis,
        tolerance=asked.tolerance,
        contract=contract,
        safe=safe,
        knee=greatest(probes.points),
        points=probes.points,
        steps=tuple(subject.steps),
        asked=asked.least,
        **_about(asked, subject.steps),
        **ended,
    )


def _play_asked(probes: Probes, least: float | None) -> None:
    """The level that the plan needs, where it lies between the ends."""
    if least is None:
        return
    safe, level = limit_of(probes, Goal.SAFE), probes.range.rounded(least)
    if safe.held is not None and safe.failed is not None and safe.held.level < level < safe.failed.level:  # fmt: skip
        probes.verdict(level, Goal.SAFE)


def _about(asked: RampAsked, steps: list[Step]) -> dict[str, Any]:
    """Whose ramp it is, by its first step."""
    from vramledger.record.document import Origin

    about: dict[str, str | None] = {"workload": asked.trial.part.workload.name}
    predicted = asked.prediction
    if not steps:
        return {"about": about, "prediction": predicted}
    told = read_description(steps[0].folder)
    seen = told.in_effect
    about |= {"engine": seen.engine, "engine_version": seen.engine_version, "model": seen.model}
    return {
        "about": about,
        "rehearsed": told.origin is Origin.REHEARSED,
        "prediction": None if predicted is None else predicted.beside(seen),
    }
