"""A series of repetitions: its file, and its result on the terminal."""

from pathlib import Path

from vramledger.cli.output import show, show_json
from vramledger.cli.trial.live_view import live_view
from vramledger.cli.trial.repeat_asked import trials_of
from vramledger.errors import BadInput, ExitCode
from vramledger.methods.measured.contract import Standing
from vramledger.methods.repeated.conduct import Asked, conduct_all
from vramledger.methods.repeated.one_run import read_one
from vramledger.methods.repeated.result import Repeated, repeated
from vramledger.methods.repeated.series import (
    Attempt,
    Series,
    counted,
    left_out,
    read_series,
    write_series,
)
from vramledger.report.repeat_json import repeat_json


def make(folder: Path, series: Series, trials: Asked) -> None:
    """Make the runs that are missing, and keep what they come to after each.

    Raises:
        VramError: a run could not be made; those before it are kept.
        KeyboardInterrupt: Ctrl-C outside a run's measured part.
    """
    save(folder, series)
    with live_view() as watch:
        conduct_all(series, trials, folder, watch, lambda: save(folder, series))


def go_on(folder: Path, *, close: bool, as_json: bool) -> int:
    """Make what is missing of a series, with the options that it was begun with.

    Raises:
        BadInput: it is to be closed, which its runs are one by one; or as of `make`.
    """
    if close:
        raise BadInput(
            f"{folder} holds several runs; close the one that is open, such as {folder}/run-001."
        )
    series = read_series(folder)
    make(folder, series, trials_of(series))
    return show_series(folder, as_json=as_json)


def save(folder: Path, series: Series) -> None:
    """Write what is known so far.

    Raises:
        BadInput: the folder cannot be written, or a run in it is damaged.
    """
    runs = counted(folder, series)
    write_series(folder, repeat_json(folder, series, _result(runs), left_out(folder, series)))


def show_series(folder: Path, *, as_json: bool) -> int:
    """Print what the runs of a folder come to; the exit code is that of the whole.

    Raises:
        BadInput: no series, or a run in it is damaged.
    """
    series = read_series(folder)
    runs, others = counted(folder, series), left_out(folder, series)
    found = _result(runs)
    if as_json:
        show_json(repeat_json(folder, series, found, others))
    else:
        from vramledger.report.repeat import repeat_text

        show(repeat_text(folder, series, found, others))
    return exit_code_of(found, missing=len(series.turns) - len(runs))


def exit_code_of(found: Repeated, missing: int) -> int:
    """130 where runs are missing, 3 where the figures decide nothing, else the worst that a contract comes to."""
    if missing:
        return ExitCode.INTERRUPTED
    if found.inconclusive:
        return ExitCode.CANNOT_KNOW
    standings = {side.standing for side in found.sides}
    if Standing.FAILS in standings:
        return ExitCode.DOES_NOT_HOLD
    return ExitCode.CANNOT_KNOW if Standing.OPEN in standings else ExitCode.HOLDS


def _result(runs: tuple[Attempt, ...]) -> Repeated:
    return repeated([read_one(each.turn, each.folder) for each in runs])
