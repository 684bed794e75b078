"""The options of ``vram trial ramp`` as a ramp, and back from its record."""

from collections.abc import Mapping
from dataclasses import replace
from math import inf, isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.cli.limit_option import with_limits
from vramledger.cli.trial.asked import trial_asked
from vramledger.cli.workload.operator import seconds
from vramledger.errors import BadInput
from vramledger.methods.measured.observed import Judging
from vramledger.methods.measured.subject import Stepping
from vramledger.methods.ramp.prediction import STEP, Prediction, started_at
from vramledger.methods.ramp.ramp import RampAsked
from vramledger.methods.subject import Axis, Range
from vramledger.plan.read import read_plan
from vramledger.plan.requirement import Kind, LoadUnit, Scenario
from vramledger.record.durable import file_sha256
from vramledger.simulate.planned import planned

if TYPE_CHECKING:
    from vramledger.simulate.run import Question

TOLERANCE: Final = 0.1
_STEP: Final = 2.0
_MOST_IN_FLIGHT: Final = 4096
_MOST_RATE: Final = 1000.0
_LEAST_RATE: Final = 1e-3
_FIRST_RATE: Final = 0.25  # of the rate asked for
_PATHS: Final = (
    "plan", "workload", "prompts", "tokenizer", "server_log", "stages", "key_file", "calibration",
)  # fmt: skip
_STEPS: Final = {"closed": None, "duration": None, "rate_scale": None, "on_interrupt": "drain"}
_QUESTION: Final = {  # options of `vram simulate` that a prediction leaves as they are
    "engine_version": None, "model": None, "coefficients": None, "replicas": 1,
    "no_prefix": False, "end": "low", "out": None, "rate_scale": None, "router": "round-robin", "prefill_servers": None,
    "kv_link_gib_s": None, "kv_link_ms": 1.0, "client_timeout": None,
}  # fmt: skip


def kept_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The options as ramp.json keeps them: paths are absolute, so that a ramp can be resumed from anywhere."""
    made: dict[str, Any] = {}
    for name, value in options.items():
        is_path = name in _PATHS and value is not None
        made[name] = str(Path(value).absolute()) if is_path else value
    return made


def from_kept(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as the command line gives them."""
    return {
        name: Path(value) if name in _PATHS[1:6] and value is not None else value
        for name, value in options.items()
    }


def ramp_asked(options: Mapping[str, Any], prediction: Prediction | None) -> RampAsked:
    """What the options ask, begun at the prediction where there is one.

    Raises:
        BadInput, UnknownName, CannotKnow: as for a trial; or levels that mean nothing.
    """
    axis = Axis.CONCURRENCY if options["closed"] else Axis.RATE
    trial = trial_asked({**options, **_STEPS})
    trial = replace(trial, contract=with_limits(trial.contract, tuple(options["limits"])))
    plan = None if options["plan"] is None else planned(options["plan"], options["scenario"])
    least = _least(options, axis)
    if axis is Axis.CONCURRENCY:
        trial = replace(trial, part=replace(trial.part, rate_scale=1.0))
    tolerance = options["tolerance"]
    return RampAsked(
        trial=trial,
        levels=_range(options, axis, least, prediction),
        judging=Judging(
            axis,
            options["headroom"]
            if options["headroom"] is not None or plan is None
            else plan.headroom,
            Kind.LATENCY if plan is None else plan.kind,
        ),
        stepping=Stepping(
            time_asked("--step-for", options["step_for"]),
            options["steps"],
            time_asked("--idle-limit", options["idle_limit"]),
            inf if options["total"] is None else time_asked("--for", options["total"]),
        ),
        tolerance=TOLERANCE if tolerance is None else tolerance,
        least=least,
        prediction=prediction,
    )


def workload_hash(asked: RampAsked) -> str:
    """Of the file that all steps send.

    Raises:
        BadInput: it cannot be read.
    """
    path = asked.trial.part.workload
    try:
        return file_sha256(path)
    except OSError:
        raise BadInput(f"{path} cannot be read; name a stored workload with --workload.") from None


def question_asked(options: Mapping[str, Any]) -> "Question | None":
    """The simulation that a prediction is of; None where no deployment is stated beside the server.

    Raises:
        BadInput: half of a deployment is stated.
        UnknownName, CannotKnow: as for a simulation.
    """
    from vramledger.cli.simulate_asked import question_of

    launch, gpu, calibration = (options[name] for name in ("launch", "gpu", "calibration"))
    if launch is None and gpu is None and calibration is None:
        return None
    if launch is None and options["plan"] is None:
        named = "--gpu" if gpu is not None else "--calibration"
        raise BadInput(
            f"{named} is of a prediction to start at, which needs the deployment too; add --launch COMMAND, or a PLAN."
        )
    if launch is not None and options["plan"] is not None:
        raise BadInput("--launch and the plan both state the deployment; leave one out.")
    closed = _first(options, Axis.CONCURRENCY) if options["closed"] else None
    return question_of(
        {
            **_QUESTION,
            "launch": launch or options["plan"],
            "gpu": gpu,
            "calibration": calibration,
            "scenario": options["scenario"],
            "workload": None if options["workload"] is None else Path(options["workload"]),
            "seed": options["seed"],
            "headroom": options["headroom"],
            "limits": tuple(options["limits"]),
            "closed": None if closed is None else round(closed),
        }
    )


def _first(options: Mapping[str, Any], axis: Axis) -> float:
    given = options["start"]
    if given is not None:
        return float(given)
    return 1.0 if axis is Axis.CONCURRENCY else _FIRST_RATE


def _range(
    options: Mapping[str, Any], axis: Axis, least: float | None, prediction: Prediction | None
) -> Range:
    level = None if prediction is None else prediction.level
    start = _first(options, axis)
    if options["start"] is None and axis is Axis.RATE and least is not None:
        start = _FIRST_RATE * least
    if options["start"] is None and level is not None:
        start = started_at(level, axis)
    lowest, most = (1.0, _MOST_IN_FLIGHT) if axis is Axis.CONCURRENCY else (_LEAST_RATE, _MOST_RATE)
    highest = options["most"] if options["most"] is not None else most
    _check_level("--start", start, axis, most)
    _check_level("--most", highest, axis, most)
    if highest < start:
        raise BadInput(
            f"--most {highest:g} is below the start, {start:g}; a ramp climbs from its start."
        )
    return Range(
        start=start,
        lowest=lowest,
        highest=highest,
        axis=axis,
        step=_STEP if level is None else STEP,
        why_lowest="fewer than one are none"
        if axis is Axis.CONCURRENCY
        else "nothing lower is sent",
        why_highest=f"{highest:g} was the most to try (--most)",
    )


def _check_level(option: str, level: float, axis: Axis, most: float) -> None:
    if not (isfinite(level) and 0 < level <= most):
        raise BadInput(f"{option} is {level:g}; take more than 0 and at most {most:g}.")
    if axis is Axis.CONCURRENCY and level != round(level):
        raise BadInput(
            f"{option} is {level:g}; with --closed it is a whole number of requests in flight."
        )


def _least(options: Mapping[str, Any], axis: Axis) -> float | None:
    """The level that is needed: as stated, else what the plan says of it."""
    given = options["at_least"]
    if given is not None:
        _check_level(
            "--at-least", given, axis, _MOST_IN_FLIGHT if axis is Axis.CONCURRENCY else _MOST_RATE
        )
        return float(given)
    if options["plan"] is None:
        return None
    plan = planned(options["plan"], options["scenario"])
    if axis is Axis.RATE:
        return plan.rate_scale
    scenario: Scenario = next(
        each for each in read_plan(options["plan"]).scenarios if each.name == plan.scenario
    )
    load = scenario.load
    return float(round(load.amount)) if load.unit is LoadUnit.CONCURRENT else None


def time_asked(option: str, text: str) -> float:
    """A length of time that an option gives.

    Raises:
        BadInput: none, or more than a week.
    """
    found = seconds(text)
    if not 0 < found <= 7 * 86_400:
        raise BadInput(f"{option} {text} is out of range; take more than 0 and at most a week.")
    return found
