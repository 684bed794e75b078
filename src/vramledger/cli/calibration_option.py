"""``--calibration FILE``: step times of a host that was measured, and what they are no evidence of."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from vramledger.errors import BadInput, ExitCode

if TYPE_CHECKING:
    from vramledger.engine.vllm.deployment import Deployment
    from vramledger.ledger.measured_memory import MeasuredMemory
    from vramledger.simulate.timing.coefficients import Fit

Command = TypeVar("Command", bound=Callable[..., Any])


def calibration_option(command: Command) -> Command:
    """The option on a verb that asks for step times."""
    return click.option(
        "--calibration",
        metavar="FILE",
        help="Step times of a measured host, by vram calibrate; of another engine, version, precision or backend "
        "they decide nothing (exit code 3).",
    )(command)


def fit_from(coefficients: str | None, calibration: str | None) -> "Fit | None":
    """The step times that were asked for, None for the shipped ones.

    Raises:
        BadInput: both files are given, or one is none.
    """
    from vramledger.simulate.timing.calibration import read_calibration
    from vramledger.simulate.timing.coefficients import read_coefficients

    if calibration is not None and coefficients is not None:
        raise BadInput("--calibration and --coefficients both give the step times; leave one out.")
    if calibration is not None:
        return read_calibration(Path(calibration))
    return None if coefficients is None else read_coefficients(Path(coefficients))


def memory_from(calibration: str | None) -> "MeasuredMemory | None":
    """The memory rows of that file, None where it has none.

    Raises:
        BadInput: the file is no calibration.
    """
    from vramledger.ledger.calibration_file import has_memory, read_content, read_memory

    if calibration is None or not has_memory(read_content(Path(calibration))):
        return None
    return read_memory(Path(calibration))


def as_evidence(code: ExitCode, deployment: "Deployment", fit: "Fit | None") -> ExitCode:
    """What a verdict of "holds" exits with where the calibration is no evidence: cannot know."""
    from vramledger.simulate.timing.carrying import refusals

    if code is not ExitCode.HOLDS or not refusals(deployment, fit):
        return code
    return ExitCode.CANNOT_KNOW
