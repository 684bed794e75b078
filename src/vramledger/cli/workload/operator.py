"""What the operators' commands have in common: their options and their answer."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from vramledger.cli.output import show, show_json
from vramledger.cli.workload.destination import destination
from vramledger.errors import BadInput, ExitCode

if TYPE_CHECKING:
    from vramledger.workload.operators.change import Change

WORKLOAD: Final = click.Path(path_type=Path)
_UNITS: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_PART: Final = r"(\d+(?:\.\d+)?)(ms|s|m|h|d)"

out = destination("The workload to write.", required=True)
seed = click.option(
    "--seed", type=click.IntRange(min=0), default=0, help="Of every draw; 0 by default."
)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def seconds(text: str) -> float:
    """A time as people write it: 600, 90s, 10m, 1h30m or 2d, in seconds.

    Raises:
        BadInput: it is no time.
    """
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    if not re.fullmatch(f"({_PART})+", text):
        raise BadInput(f"{text!r} is no time; write seconds, or 90s, 10m, 1h30m, 2d.")
    return sum(float(number) * _UNITS[unit] for number, unit in re.findall(_PART, text))


def answer(change: "Change", *, as_json: bool) -> int:
    """Print what was done."""
    from vramledger.report.workload_operator import to_json, to_text

    if as_json:
        show_json(to_json(change))
    else:
        show(to_text(change))
    return ExitCode.HOLDS
