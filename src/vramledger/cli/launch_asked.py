"""The deployment that a launch command or a plan names, with the options beside it, where vLLM's scheduler is simulated."""

import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from vramledger.cli.calibration_option import memory_from
from vramledger.engine.launch import Launch
from vramledger.engine.read import read_launch
from vramledger.errors import BadInput, CannotKnow
from vramledger.hardware.accelerator import Accelerator
from vramledger.ledger.case import Case
from vramledger.ledger.question import accelerator_for, model_of
from vramledger.simulate.planned import Planned

_ENGINE: Final = "vllm"


def case_asked(asked: Mapping[str, Any], plan: Planned | None, done: str) -> Case:
    """The case of ``launch``, ``engine_version``, ``model`` and ``gpu``; `done` says what vLLM launches are.

    Raises:
        BadInput: no single accelerator is named.
        UnknownName: a model, card, flag or version that is none.
        CannotKnow: another engine than vLLM.
    """
    launch = _launch(asked, plan, done)
    return Case(
        launch=launch,
        model=model_of(launch),
        accelerator=_accelerator(asked["gpu"], plan, done),
        version=_version(asked, plan),
        memory=memory_from(asked.get("calibration")),
    )


def _version(asked: Mapping[str, Any], plan: Planned | None) -> str | None:
    given: str | None = asked["engine_version"]
    return given or (None if plan is None else plan.version)


def _launch(asked: Mapping[str, Any], plan: Planned | None, done: str) -> Launch:
    text = asked["launch"] if plan is None else shlex.join(plan.command)
    launch = read_launch(text, version=_version(asked, plan))
    if launch.engine != _ENGINE:
        raise CannotKnow(
            f"The scheduler of {launch.engine} is not simulated; vllm launches are {done}."
        )
    return replace(launch, model=asked["model"]) if asked["model"] is not None else launch


def _accelerator(gpu: str | None, plan: Planned | None, done: str) -> Accelerator:
    if gpu is not None:
        return accelerator_for(gpu)
    if plan is not None and len(plan.accelerators) == 1:
        return plan.accelerators[0]
    raise BadInput(_which_card(plan, done))


def _which_card(plan: Planned | None, done: str) -> str:
    if plan is None or not plan.accelerators:
        return "State the accelerator with --gpu NAME; vram gpus lists the names."
    names = ", ".join(card.name for card in plan.accelerators)
    return f"The plan has several accelerators ({names}), and one is {done} at a time; name it with --gpu."
