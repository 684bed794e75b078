"""The options of ``vram rehearse``: what is rehearsed, and how it is served."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

from vramledger.cli.launch_asked import case_asked
from vramledger.cli.predict_asked import fit_of
from vramledger.errors import BadInput
from vramledger.rehearse.faults.registry import faults_of
from vramledger.rehearse.server import Options
from vramledger.rehearse.subject import Lengths, Question, Subject
from vramledger.simulate.planned import is_plan, planned

_ENGINE: Final = "vllm"
_FASTEST: Final = 1000.0
_LONGEST: Final = 1e7  # tokens


def question_of(asked: Mapping[str, Any]) -> Question:
    """The deployment that the options name.

    Raises:
        BadInput: an option is missing or means nothing.
        UnknownName: a model, card, flag, scenario or version that is none.
        CannotKnow: another engine than vLLM, or a plan that is no single deployment.
    """
    plan = planned(asked["launch"], asked["scenario"]) if is_plan(asked["launch"]) else None
    lengths = Lengths(_length(asked, "mean_input"), _length(asked, "mean_output"))
    acceptance = asked["acceptance"]
    if acceptance is not None and not 0 <= acceptance <= 1:
        raise BadInput(f"--acceptance is {acceptance:g}; it is a share of the drafts, from 0 to 1.")
    return Question(
        case_asked(asked, plan, "rehearsed"), lengths, acceptance, fit_of(asked["coefficients"])
    )


def options_of(asked: Mapping[str, Any]) -> Options:
    """How it is served.

    Raises:
        BadInput: an option means nothing.
        UnknownName: a fault that is none.
    """
    speed = asked["speed"]
    if not (isfinite(speed) and 0 < speed <= _FASTEST):
        raise BadInput(
            f"--speed is {speed:g}; it is simulated seconds a second, above 0 and up to {_FASTEST:g}."
        )
    return Options(
        host=asked["host"],
        port=asked["port"],
        seed=asked["seed"],
        speed=speed,
        faults=faults_of(asked["faults"]),
        truth=asked["truth"],
    )


def sentence_of(subject: Subject) -> str:
    """What is rehearsed, in one sentence."""
    deployment, settings = subject.deployment, subject.settings
    return (
        f"Rehearsing {subject.model_name} on vLLM {deployment.version} and {deployment.accelerator.name}, all of it "
        f"simulated: {subject.pool.num_blocks:,} KV blocks of {settings.block_size} tokens (expected, from the ledger), "
        f"step times {subject.basis}."
    )


def _length(asked: Mapping[str, Any], name: str) -> float:
    given = float(asked[name])
    if not 1 <= given <= _LONGEST:
        raise BadInput(
            f"--{name.replace('_', '-')} is {given:g}; it is a number of tokens from 1 on."
        )
    return given
