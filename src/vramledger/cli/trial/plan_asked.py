"""The options of ``vram trial plan PLAN`` as a proposal."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.cli.simulate_asked import question_of
from vramledger.cli.workload.operator import seconds
from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen
from vramledger.methods.trialplan.budget import Budget, until_of
from vramledger.methods.trialplan.expected import expected_lines
from vramledger.methods.trialplan.item import (
    BY_NAME,
    READY,
    REPEAT,
    REPEATS,
    SHADOW,
    check_times,
    kind_named,
)
from vramledger.methods.trialplan.proposal import Extra, Proposal, propose
from vramledger.methods.trialplan.scenario_need import scenario_need
from vramledger.methods.trialplan.trials_file import Expected, trials_text
from vramledger.methods.trialplan.variations import variations
from vramledger.named_file import opened
from vramledger.plan.price import parse_price
from vramledger.plan.read import read_plan
from vramledger.record.durable import replace_file
from vramledger.simulate.planned import is_plan
from vramledger.simulate.run import NotServed, Question, Simulation, simulate_case
from vramledger.simulate.timing.carrying import refusals
from vramledger.written_file import refuse_place

if TYPE_CHECKING:
    from vramledger.simulate.engines import Progress

_CONFIDENCE: Final = 0.9
_LEAST, _MOST = 0.5, 0.9999
_RUN_OPTIONS: Final = ("home", "restart_command", "keep_going")
VARIATIONS: Final = "variations"  # every one that suggests itself
_MOST_DIGITS: Final = 6
_LONGEST_H: Final = 24.0 * 366


@frozen
class Proposed:
    """A proposal with what the simulator said of every line."""

    proposal: Proposal
    expected: tuple[Expected, ...]


def refuse_run_options(asked: Mapping[str, Any]) -> None:
    """Refuse what only carrying out has a use for.

    Raises:
        BadInput: such an option is given.
    """
    given = next((name for name in _RUN_OPTIONS if asked[name]), None)
    if given is not None:
        option = given.replace("_", "-")
        raise BadInput(f"--{option} is for carrying trials out; give it with --run FILE.")


def proposed(asked: Mapping[str, Any], progress: "Progress") -> Proposed | str:
    """What trials would decide the contract; the reason where the deployment does not start.

    Raises:
        BadInput: an option is missing or means nothing.
        UnknownName: a name that is none.
        CannotKnow: no single deployment, or no contract.
    """
    budget, confidence = budget_of(asked), _confidence(asked["confidence"])
    extras = [_extra(text) for text in asked["also"]]
    restart_s = seconds(asked["restart_takes"])
    simulations: dict[str, Simulation] = {}
    needs = []
    for name, question in _questions(asked).items():
        found = simulate_case(question, progress)
        if isinstance(found, NotServed):
            return found.reason
        simulations[name] = found
        needs.append(
            scenario_need(name, found, confidence, progress, stages=asked["stages"] is not None)
        )
    extras = [each for extra in extras for each in _expanded(extra, simulations)]
    proposal = replace(
        propose(needs, budget, confidence, extras, restart_s),
        no_evidence=tuple(
            dict.fromkeys(
                reason
                for found in simulations.values()
                for reason in refusals(found.deployment, found.question.fit)
            )
        ),
    )
    return Proposed(proposal, expected_lines(simulations, proposal.needs))


def budget_of(asked: Mapping[str, Any]) -> Budget:
    """The time and the money that the options give.

    Raises:
        BadInput: they mean nothing.
    """
    now = datetime.now().astimezone()
    until = None if asked["until"] is None else until_of(asked["until"], now)
    price = None if asked["price"] is None else parse_price(asked["price"], "--price")
    if asked["max_cost"] is not None and price is None:
        raise BadInput("--max-cost needs the price of the machine: --price 2.40/h.")
    for name, most in (("hours", _LONGEST_H), ("max_cost", float("inf"))):
        given = asked[name]
        if given is not None and not (isfinite(given) and 0 < given <= most):
            upto = f" and up to {most:g}" if isfinite(most) else ""
            raise BadInput(
                f"--{name.replace('_', '-')} is {given:g}; it is a number above 0{upto}."
            )
    per_hour, currency = (0.0, "") if price is None else (price.per_hour, price.currency)
    return Budget(now, until, asked["hours"], asked["max_cost"], per_hour, currency)


def written(found: Proposed, asked: Mapping[str, Any]) -> Path:
    """The file of trials, written.

    Raises:
        BadInput: it cannot be.
    """
    out: Path = asked["out"]
    refuse_place(out, (Path(asked["plan"]),))
    text = trials_text(
        found.proposal,
        found.expected,
        out,
        Path(asked["plan"]),
        asked["workload"],
        asked["url"],
        asked["seed"] or 0,
        asked["stages"],
    )
    if not found.proposal.items:
        raise CannotKnow(f"No trial decides anything in the time, so {out} is not written.")
    try:
        replace_file(out, text.encode())
    except OSError as error:
        raise BadInput(f"{out} cannot be written: {error.strerror}; choose another -o.") from None
    return out


def _questions(asked: Mapping[str, Any]) -> dict[str, Question]:
    """A simulation of each scenario that has a contract."""
    plan = asked["plan"]
    if plan is None:
        raise BadInput("Name the plan whose contract is to be decided: vram trial plan plan.yaml.")
    if not is_plan(plan):
        raise BadInput(f"{plan} is no plan file; vram plan new writes one.")
    promising = [each.name for each in read_plan(plan).scenarios if not each.contract.is_empty]
    if not promising:
        raise CannotKnow(
            f"{plan} promises nothing: no scenario has a contract, so no trial decides it."
        )
    return {name: question_of(_of_simulation(asked, name)) for name in promising}


def _of_simulation(asked: Mapping[str, Any], scenario: str) -> dict[str, Any]:
    """The options of ``vram simulate`` for one scenario."""
    shared = ("gpu", "workload", "engine_version", "model", "calibration")
    return {
        "launch": asked["plan"],
        "scenario": scenario,
        "rate_scale": None,
        "replicas": 1,
        "no_prefix": False,
        "end": "low",
        "seed": asked["seed"] or 0,
        "limits": (),
        "coefficients": None,
        "headroom": None,
        "out": None,
        **{name: asked[name] for name in shared},
    }


def _confidence(given: float | None) -> float:
    if given is None:
        return _CONFIDENCE
    if not _LEAST < given <= _MOST:
        raise BadInput(
            f"--confidence is {given:g}; it is a share above {_LEAST:g} and up to {_MOST:g}."
        )
    return given


def _extra(text: str) -> Extra:
    """``cold``, ``soak:2h``, ``repeat:3``, ``shadow:FILE`` or ``max-num-seqs=128``."""
    name, colon, rest = text.partition(":")
    setting, equals, value = text.partition("=")
    if equals and not (colon and name in BY_NAME):
        return Extra("variation", settings={setting.removeprefix("--"): value})
    if text == VARIATIONS:
        return Extra(VARIATIONS)
    kind = kind_named(name, "--also")
    if kind.name in (READY, "run", "variation"):
        raise BadInput(
            f"--also {text}: the plan has that by itself; name cold, ramp, soak, repeat, shadow, variations or an argument=value."
        )
    if kind.name == SHADOW:
        return Extra(SHADOW, against=_against(rest, text))
    if kind.name == REPEAT:
        return Extra(REPEAT, times=_times(rest, text))
    return Extra(kind.name, seconds(rest) if rest else None)


def _expanded(extra: Extra, simulations: Mapping[str, Simulation]) -> list[Extra]:
    """Variations as one trial each, of the deployment as it was simulated."""
    if extra.kind != VARIATIONS:
        return [extra]
    first = next(iter(simulations.values()))
    return [Extra("variation", settings=settings) for settings in variations(first)]


def _against(told: str, text: str) -> str:
    """Another server, or the file of answers that were recorded."""
    if not told:
        raise BadInput(
            f"--also {text} compares with nothing; write shadow:http://OTHER:8000, or shadow:FILE with what vram trial shadow "
            "--record wrote."
        )
    if "://" not in told:
        with opened(Path(told), "recorded answers"):
            pass
    return told


def _times(told: str, text: str) -> int:
    if not told:
        return REPEATS
    times = int(told) if told.isdecimal() and len(told) < _MOST_DIGITS else None
    check_times(times, f"--also {text}")
    return times or REPEATS
