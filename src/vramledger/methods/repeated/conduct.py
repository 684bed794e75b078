"""Repetitions, one after another: what is there is kept, what was cut off goes on, what is missing is made."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from vramledger.errors import CannotKnow, VramError
from vramledger.methods.repeated.series import Attempt, Series, attempts, counted, names
from vramledger.methods.repeated.turns import Side, Turn
from vramledger.trial.conduct.asked import TrialAsked
from vramledger.trial.conduct.conduct import conduct
from vramledger.trial.conduct.resume import resume
from vramledger.trial.conduct.watch import Watch

Asked: TypeAlias = Mapping[Side | None, TrialAsked]  # the trial of each side, with any seed


def conduct_all(
    series: Series, asked: Asked, folder: Path, watch: Watch, done: Callable[[], None]
) -> bool:
    """Make every run that is missing; `done` is called after each. False where a person ended it.

    Raises:
        BadInput, UnknownName, CannotKnow: a run could not be made; those before it are kept.
        KeyboardInterrupt: Ctrl-C before or after a run's measured part.
    """
    from vramledger.record.document import Ended

    count = len(series.turns)
    for place, turn in enumerate(series.turns, 1):
        if any(each.counts for each in attempts(folder, turn)):
            continue
        watch.phase(f"{turn.name}, {place} of {count}")
        try:
            attempt = _made(turn, replace(asked[turn.side], seed=turn.seed), folder, watch)
        except VramError as error:
            if (made := len(counted(folder, series))) == 0:
                raise
            raise CannotKnow(
                f"{made} of {count} runs are made and the next was not: {error} The same command goes on."
            ) from None
        done()
        if attempt.ended is Ended.INTERRUPTED:
            return False
        if not attempt.counts:
            raise CannotKnow(
                f"{attempt.folder} ended before its load was over ({attempt.ended}), so it is no repetition; the same command "
                "again makes another in its place, and goes on."
            )
    return True


def _made(turn: Turn, asked: TrialAsked, folder: Path, watch: Watch) -> Attempt:
    """Go on with the attempt that was cut off; where that cannot be, and where there is none, make another."""
    cut = next((each for each in attempts(folder, turn) if each.ended is None), None)
    if cut is not None:
        try:
            return _read(turn, resume(cut.folder, watch).folder)
        except CannotKnow:  # its clock or its load is gone; it was closed as it is
            watch.phase(f"{cut.folder.name} cannot go on, another attempt")
    free = next(place for name in names(turn) if not (place := folder / name).exists())
    return _read(turn, conduct(asked, free, watch).folder)


def _read(turn: Turn, folder: Path) -> Attempt:
    from vramledger.record.description import read_description

    return Attempt(turn, folder, read_description(folder).ended)
