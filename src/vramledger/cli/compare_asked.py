"""What ``vram compare`` asks, and its answer."""

from collections.abc import Mapping
from math import isfinite
from typing import Any

from vramledger.cli.output import show, show_json
from vramledger.compare.comparison import Comparison, compared
from vramledger.compare.side import read_sides
from vramledger.errors import BadInput, ExitCode


def compare(asked: Mapping[str, Any], *, as_json: bool) -> int:
    """Print the comparisons; the exit code is that of the one that says least.

    Raises:
        BadInput: an option has no sense, or a run is none.
    """
    practical = _share("--practical", asked["practical"])
    first, *others = read_sides(asked["sides"])
    found = [compared(first, other, practical) for other in others]
    if as_json:
        from vramledger.report.comparison_json import comparison_json

        show_json(comparison_json(found))
    else:
        from vramledger.report.comparison import comparison_text

        show(comparison_text(found))
    return exit_code_of(found)


def exit_code_of(found: list[Comparison]) -> ExitCode:
    """Cannot know, where any of them cannot."""
    return max((each.exit_code for each in found), key=int)


def _share(option: str, text: str) -> float:
    """2% or 0.02.

    Raises:
        BadInput: it is no share from 0 to below 1.
    """
    try:
        value = float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        value = float("nan")
    if not (isfinite(value) and 0 <= value < 1):
        raise BadInput(
            f"{option} {text} is no share; write one from 0 to below 1, such as 2% or 0.02."
        )
    return value
