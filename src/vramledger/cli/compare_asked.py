"""What ``vram compare`` asks, and its answer."""

from collections.abc import Mapping
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any

from vramledger.cli.output import show, show_json
from vramledger.compare.choice import Choice, choice_of
from vramledger.compare.comparison import Comparison, compared
from vramledger.compare.experiment import append_experiment, experiment, read_experiments
from vramledger.compare.side import Side, read_sides
from vramledger.errors import BadInput, ExitCode


def compare(asked: Mapping[str, Any], *, as_json: bool) -> int:
    """Print the comparisons; the exit code is that of the choice where one is asked for, else of the one that says least.

    Raises:
        BadInput: an option has no sense, or a run is none.
    """
    _fit_together(asked)
    if asked["show_log"]:
        return _show_log(Path(asked["log"]), as_json=as_json)
    practical = _share("--practical", asked["practical"])
    sides = read_sides(asked["sides"])
    found = [compared(sides[0], other, practical) for other in sides[1:]]
    choice = _choice(sides, asked["plan"]) if asked["choose"] else None
    if asked["log"]:
        entry = experiment(found, choice, question=asked["question"], expect=asked["expect"], now=datetime.now(UTC))  # fmt: skip
        append_experiment(Path(asked["log"]), entry)
    _print(found, choice, as_json=as_json)
    return exit_code_of(found) if choice is None else choice.exit_code


def _fit_together(asked: Mapping[str, Any]) -> None:
    """What goes with what.

    Raises:
        BadInput: an option lacks the one that it belongs to.
    """
    if asked["show_log"] and (not asked["log"] or asked["sides"]):
        raise BadInput("--show prints the log that --log names, and takes no runs: vram compare --log FILE --show.")  # fmt: skip
    if asked["choose"] and not asked["plan"]:
        raise BadInput("--choose holds each side against a contract; name the plan that has it with --plan.")  # fmt: skip
    if asked["plan"] and not asked["choose"]:
        raise BadInput("--plan is for --choose, which is not given; add --choose, or leave --plan out.")  # fmt: skip
    lone = next((name for name in ("question", "expect") if asked[name] is not None), None)
    if lone and (not asked["log"] or asked["show_log"]):
        raise BadInput(f"--{lone} is kept in the log of a comparison; name its file with --log and leave --show out.")  # fmt: skip


def _show_log(path: Path, *, as_json: bool) -> int:
    entries = read_experiments(path)
    if as_json:
        show_json({"schema": "vramledger.experiments/1", "entries": list(entries)})
    else:
        from vramledger.report.experiments import experiments_text

        show(experiments_text(entries))
    return ExitCode.HOLDS


def _choice(sides: tuple[Side, ...], plan: str) -> Choice:
    from vramledger.accept.beside import read_beside
    from vramledger.plan.read import read_plan

    requirement = read_plan(plan)
    return choice_of(sides, requirement, read_beside(requirement))


def _print(found: list[Comparison], choice: Choice | None, *, as_json: bool) -> None:
    if as_json:
        from vramledger.report.comparison_json import comparison_json

        show_json(comparison_json(found, choice))
        return
    from vramledger.report.choice import choice_text
    from vramledger.report.comparison import comparison_text

    if choice is not None:
        show(choice_text(choice) + "\n")
    show(comparison_text(found))


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
