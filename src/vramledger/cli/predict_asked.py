"""The options of ``vram predict`` as a question."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import inf, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.cli.needs import need_full
from vramledger.engine.launch import Launch
from vramledger.engine.read import read_launch
from vramledger.engine.vllm.deployment import Deployment
from vramledger.errors import BadInput, CannotKnow
from vramledger.ledger.case import Case
from vramledger.ledger.question import accelerator_for, model_of
from vramledger.named_file import read_text
from vramledger.simulate.timing.cases.answer import Answer, answers
from vramledger.simulate.timing.closed_loop import Load
from vramledger.simulate.timing.coefficients import Fit, read_coefficients
from vramledger.simulate.timing.lengths import USUAL_SPREAD, Recorded
from vramledger.simulate.timing.predict import predict
from vramledger.simulate.timing.prediction import Prediction
from vramledger.units import parse_count

if TYPE_CHECKING:
    from vramledger.simulate.recorded_lengths import Lengths

_LARGEST_FILE: Final = 1 << 28
_ENGINE: Final = "vllm"
_NO_LIMIT: Final = 1 << 62


def fit_of(path: str | None) -> Fit | None:
    """The coefficients of that file, None for the shipped ones.

    Raises:
        BadInput: the file is none.
    """
    return None if path is None else read_coefficients(Path(path))


def single(asked: Mapping[str, Any], fit: Fit | None) -> Prediction:
    """The prediction for one launch.

    Raises:
        BadInput: an option is missing or means nothing.
        UnknownName: a model, card, flag or version that is none.
        CannotKnow: another engine, or figures are missing.
    """
    launch = _launch(asked)
    if asked["gpu"] is None:
        raise BadInput("State the accelerator with --gpu NAME; vram gpus lists the names.")
    case = Case(
        launch=launch,
        model=model_of(launch),
        accelerator=accelerator_for(asked["gpu"]),
        version=asked["engine_version"],
    )
    deployment = case.deployment()
    known = not deployment.version_note
    if asked["workload"] is None:
        return predict(deployment, _load(asked), fit, version_known=known)
    lengths = _recorded(asked, deployment)
    found = predict(deployment, _load_of(asked, lengths.taken), fit, version_known=known)
    return replace(found, notes=(*found.notes, *_of_workload(lengths)))


def case_answers(path: str, asked: Mapping[str, Any], fit: Fit | None) -> Iterator[Answer]:
    """The answers to the cases of a file, in their order.

    Raises:
        BadInput: the file cannot be read, has no line, or options of a single question are given too.
    """
    given = [name for name, value in asked.items() if value is not None]
    if given:
        named = "LAUNCH" if given[0] == "launch" else _flag(given[0])
        raise BadInput(
            f"{named} has no part with --cases, whose lines state their own questions; leave it out."
        )
    lines = read_text(Path(path), _LARGEST_FILE, "a file of cases").splitlines()
    if not any(line.strip() for line in lines):
        raise BadInput(f"{path} holds no case; write one JSON object a line.")
    return answers(lines, fit)


def _launch(asked: Mapping[str, Any]) -> Launch:
    if asked["launch"] is None:
        raise BadInput("State the launch command to predict, or --cases FILE with many questions.")
    launch = read_launch(asked["launch"], version=asked["engine_version"])
    if launch.engine != _ENGINE:
        raise CannotKnow(
            f"The step time of {launch.engine} is not modelled; vllm launches are predicted."
        )
    return replace(launch, model=asked["model"]) if asked["model"] is not None else launch


def _load(asked: Mapping[str, Any]) -> Load:
    return Load(
        _count(asked, "input_tokens"),
        _count(asked, "output_tokens"),
        _count(asked, "concurrency"),
        _requests(asked),
        _spread(asked["spread"]),
    )


def _requests(asked: Mapping[str, Any]) -> float:
    return inf if asked["requests"] is None else _count(asked, "requests")


def _spread(given: str | None) -> float:
    if given is None:
        return USUAL_SPREAD
    try:
        spread = float(given)
    except ValueError:
        spread = nan
    if not 0 <= spread <= 1:
        raise BadInput(f"--spread is {given}; it is a share of the mean lengths from 0 to 1.")
    return spread


def _load_of(asked: Mapping[str, Any], lengths: Recorded) -> Load:
    return Load(
        lengths.input_mean,
        lengths.output_mean,
        _count(asked, "concurrency"),
        _requests(asked),
        recorded=lengths,
    )


def _recorded(asked: Mapping[str, Any], deployment: Deployment) -> "Lengths":
    """The lengths of the workload, as this engine serves them."""
    for name in ("input_tokens", "output_tokens", "spread"):
        if asked[name] is not None:
            raise BadInput(
                f"{_flag(name)} has no part with --workload, whose requests have lengths of their own; "
                "leave it out."
            )
    need_full("vram predict --workload", ("duckdb", "pyarrow", "numpy"))
    from vramledger.simulate.offered import read_offered
    from vramledger.simulate.recorded_lengths import recorded_lengths

    limit = deployment.max_model_len.value or deployment.model.text.max_positions
    return recorded_lengths(read_offered(asked["workload"]), limit or _NO_LIMIT)


def _of_workload(lengths: "Lengths") -> Iterator[str]:
    """What became of the workload's requests."""
    if len(lengths.taken) < lengths.served:
        yield (
            f"Of {lengths.served:,} requests {len(lengths.taken):,} at even distances give the lengths."
        )
    if lengths.rejected:
        yield f"{lengths.rejected:,} of its requests are left out: the engine rejects prompts so long."
    if lengths.cut:
        yield f"{lengths.cut:,} of its answers end at max_model_len."


def _count(asked: Mapping[str, Any], name: str) -> float:
    if asked[name] is None:
        raise BadInput(
            f"{_flag(name)} is missing; a prediction needs --input-tokens, --output-tokens and "
            "--concurrency."
        )
    return float(parse_count(asked[name], _flag(name)))


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")
