"""The end of a file of trials on one page: what was measured here, what is carried over, what stays unknown."""

import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Final

from vramledger.errors import ExitCode, VramError
from vramledger.frozen import frozen
from vramledger.methods.trialplan.budget import Budget
from vramledger.methods.trialplan.carry.carrier import ANSWERS, item_folder
from vramledger.methods.trialplan.carry.progress import Progress, progress_of
from vramledger.methods.trialplan.decided import FAILS, HOLDS, OPEN, Decided, decided_lines
from vramledger.methods.trialplan.item import Item
from vramledger.methods.trialplan.trials_file import Expected, Trials
from vramledger.named_file import read_text
from vramledger.record.description import read_description
from vramledger.record.document import Origin
from vramledger.record.run import read_run
from vramledger.trial.conduct.summary import summarise

_MOST_CHARACTERS: Final = 64_000_000


class Known(StrEnum):
    """How a line is known."""

    MEASURED = "measured here"
    CARRIED = "carried over"
    UNKNOWN = "unknown"


@frozen
class LineKnown:
    """A line of the contract. `decided` is what a trial found, None where none was held against it; `expected` what the simulator said."""

    scenario: str
    asked: str
    known: Known
    decided: Decided | None
    expected: Expected | None
    run: Path | None

    @property
    def why(self) -> str:
        """Why it was not decided by a trial; empty where it was."""
        if self.known is Known.MEASURED:
            return ""
        if self.decided is not None:
            return self.decided.why
        return "no trial of this scenario came to an end"


@frozen
class ItemEnd:
    """An item with what became of it: its exit code, None where it did not run, and then why. `says` is its own finding, of a ramp or a soak."""

    item: Item
    folder: Path | None
    code: int | None
    why: str = ""
    says: str = ""


@frozen
class Page:
    """Everything there is to say. `missing` are files that are not at `home`, and `refusal` why."""

    trials: Trials
    folder: Path
    confidence: float
    budget: Budget
    lines: tuple[LineKnown, ...]
    items: tuple[ItemEnd, ...]
    home: str | None = None
    missing: tuple[str, ...] = ()
    refusal: str = ""
    interrupted: bool = False
    rehearsed: bool = False  # whether the server was a simulated one

    @property
    def standing(self) -> str:
        """Of the whole contract, by what was measured here alone."""
        found = [line.decided.standing for line in self.lines if line.decided is not None]
        if FAILS in found:
            return FAILS
        decided = bool(self.lines) and all(line.known is Known.MEASURED for line in self.lines)
        return HOLDS if decided else OPEN

    @property
    def exit_code(self) -> ExitCode:
        """130 where it was interrupted, else what the contract comes to."""
        if self.interrupted:
            return ExitCode.INTERRUPTED
        return {
            HOLDS: ExitCode.HOLDS, FAILS: ExitCode.DOES_NOT_HOLD, OPEN: ExitCode.CANNOT_KNOW
        }[self.standing]  # fmt: skip


def page_of(trials: Trials, folder: Path, budget: Budget) -> Page:
    """The page of a folder of trials, as far as they are.

    Raises:
        BadInput: the folder is none.
    """
    progress = progress_of(folder)
    ends = tuple(_end(item, trials, folder, progress) for item in trials.items)
    decided = {
        end.item.scenario: (end, lines)
        for end in ends
        if end.item.kind == "run" and (lines := decided_by(end.folder, trials.confidence))
    }
    expected = {(each.scenario, each.asked): each for each in trials.expected}
    return Page(
        trials=trials,
        folder=folder,
        confidence=trials.confidence,
        budget=budget,
        lines=tuple(_lines(decided, expected)),
        items=ends,
        rehearsed=any(_is_rehearsed(end.folder) for end in ends),
    )


def decided_by(folder: Path | None, confidence: float) -> tuple[Decided, ...]:
    """What the run in a folder decides; nothing where it has no closed run."""
    if folder is None:
        return ()
    try:
        return decided_lines(summarise(read_run(folder)), confidence)
    except VramError:
        return ()


def fails(folder: Path, confidence: float) -> bool:
    """Whether a line of the contract fails in the run of a folder."""
    return any(line.standing == FAILS for line in decided_by(folder, confidence))


def _is_rehearsed(folder: Path | None) -> bool:
    try:
        return folder is not None and read_description(folder).origin is Origin.REHEARSED
    except VramError:
        return False


def _end(item: Item, trials: Trials, folder: Path, progress: Progress) -> ItemEnd:
    state, place = progress.of(item.name), item_folder(folder, trials, item)
    there = place if place.exists() else None
    if state.code is not None:
        return ItemEnd(item, there, state.code, says=_says(folder / ANSWERS / f"{place.name}.json"))
    return ItemEnd(item, there, None, state.skipped or "it has not come to its end")


def _says(answer: Path) -> str:
    """What a verb that finds something in a sentence found; empty where it did not."""
    try:
        found = json.loads(read_text(answer, _MOST_CHARACTERS, "an answer"))
    except (VramError, ValueError):
        return ""
    if not isinstance(found, dict):
        return ""
    said = found.get("says") or found.get("reason")  # a ramp or a soak; a comparison of answers
    return said if isinstance(said, str) else ""


def _lines(
    decided: Mapping[str | None, tuple[ItemEnd, tuple[Decided, ...]]],
    expected: Mapping[tuple[str, str], Expected],
) -> Iterable[LineKnown]:
    found = {
        (str(scenario), line.asked): (end, line)
        for scenario, (end, lines) in decided.items()
        for line in lines
    }
    for scenario, asked in dict.fromkeys((*expected, *found)):
        end, line = found.get((scenario, asked), (None, None))
        said = expected.get((scenario, asked))
        known = Known.UNKNOWN
        if line is not None and line.standing != OPEN:
            known = Known.MEASURED
        elif said is not None and said.holds is not None:
            known = Known.CARRIED
        yield LineKnown(scenario, asked, known, line, said, None if end is None else end.folder)
