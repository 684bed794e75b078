"""The folder of a series of repetitions: which run is whose, and which are still to be made.

Every repetition is a run directory of its own inside it, named by its turn. One that was interrupted, or failed, stays where it is,
and another attempt stands beside it (``run-003-again-2``). ``repeat.json`` holds what was asked, and what came of it so far.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.methods.repeated.between import FEWEST
from vramledger.methods.repeated.turns import Order, Turn, turns
from vramledger.record.closing import writable
from vramledger.record.description import FILE as RUN_FILE
from vramledger.record.description import read_description
from vramledger.record.durable import replace_file

if TYPE_CHECKING:
    from vramledger.record.document import Ended

FILE: Final = "repeat.json"
SCHEMA: Final = "vramledger.repeat/1"
MOST: Final = 999


@frozen
class Series:
    """What was asked: how many repetitions, in which order (None for one server), and the options of the runs by name."""

    times: int
    seed: int
    order: Order | None
    options: Mapping[str, Any]

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The runs to make, in their order."""
        return turns(self.times, self.seed, self.order)

    def to_json(self) -> dict[str, Any]:
        """As repeat.json holds it under `asked`."""
        order = None if self.order is None else str(self.order)
        return {"times": self.times, "seed": self.seed, "order": order, "options": dict(self.options)}  # fmt: skip


@frozen
class Attempt:
    """One folder of a turn; `ended` is None where it was not closed."""

    turn: Turn
    folder: Path
    ended: "Ended | None"

    @property
    def counts(self) -> bool:
        """Whether its load was sent as asked."""
        from vramledger.record.document import Ended

        return self.ended in (Ended.COMPLETE, Ended.CUT)


def is_series(folder: Path) -> bool:
    """Whether a folder holds repetitions."""
    return (folder / FILE).is_file()


def check_times(times: int) -> None:
    """Refuse a number of repetitions that says nothing.

    Raises:
        BadInput: it is below 2, or nobody means so many.
    """
    if not FEWEST <= times <= MOST:
        raise BadInput(
            f"{times} is no number of repetitions; take {FEWEST} to {MOST}: one run alone says nothing on how the next will differ."
        )


def read_series(folder: Path) -> Series:
    """What a folder's repeat.json asks.

    Raises:
        BadInput: there is none, or it is not as it was written.
    """
    path = folder / FILE
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        asked = {SCHEMA: document["asked"]}[document["schema"]]
        order = None if asked["order"] is None else Order(asked["order"])
        series = Series(int(asked["times"]), int(asked["seed"]), order, dict(asked["options"]))
    except FileNotFoundError:
        raise BadInput(
            f"{folder} has no {FILE}; name a folder that vram trial repeat wrote."
        ) from None
    except (OSError, ValueError, KeyError, TypeError):
        raise BadInput(f"{path} is none that vram wrote; use an unchanged copy.") from None
    check_times(series.times)
    return series


def write_series(folder: Path, content: Mapping[str, Any]) -> None:
    """Put the file in its place, whole.

    Raises:
        BadInput: the folder cannot be written.
    """
    with writable(folder):
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / FILE, (json.dumps(content, indent=2) + "\n").encode())


def opened(folder: Path, asked: Series) -> Series:
    """The series in a folder: a new one, or the one that is there with as many repetitions as are asked for now.

    Raises:
        BadInput: the folder holds something else, or repetitions of another question.
    """
    if not (folder / FILE).exists():
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise BadInput(
                f"{folder} holds something already; name a folder that is not there yet."
            )
        return asked
    before = read_series(folder)
    for name, one, other in _differing(before, asked):
        raise BadInput(
            f"{folder} holds repetitions with {name} {one}, and now it is {other}; ask for the same, or name a folder that is "
            "not there yet."
        )
    if asked.times < before.times:
        raise BadInput(
            f"{folder} was begun for {before.times} repetitions; ask for as many, or for more."
        )
    return asked


def attempts(folder: Path, turn: Turn) -> Iterator[Attempt]:
    """The folders of a turn, in the order in which they were begun.

    Raises:
        BadInput: one of them is damaged.
    """
    for name in names(turn):
        place = folder / name
        if not place.exists():
            return
        if (place / RUN_FILE).is_file():
            yield Attempt(turn, place, read_description(place).ended)


def names(turn: Turn) -> Iterator[str]:
    """The names of a turn's folders, without end."""
    yield turn.name
    yield from (f"{turn.name}-again-{number}" for number in count(2))


def counted(folder: Path, series: Series) -> tuple[Attempt, ...]:
    """The attempt of each turn that counts, as far as there is one, in the order of turns.

    Raises:
        BadInput: a run is damaged.
    """
    found = (_counting(folder, turn) for turn in series.turns)
    return tuple(each for each in found if each is not None)


def left_out(folder: Path, series: Series) -> tuple[Attempt, ...]:
    """The attempts that do not count: interrupted, failed, or not closed."""
    return tuple(
        each for turn in series.turns for each in attempts(folder, turn) if not each.counts
    )


def _counting(folder: Path, turn: Turn) -> Attempt | None:
    return next((each for each in attempts(folder, turn) if each.counts), None)


def _differing(before: Series, asked: Series) -> Iterator[tuple[str, Any, Any]]:
    pairs: Sequence[tuple[str, Any, Any]] = (
        ("--seed", before.seed, asked.seed),
        ("--order", before.order or "of one server", asked.order or "of one server"),
        *(
            (f"--{name.replace('_', '-')}", before.options.get(name), asked.options.get(name))
            for name in sorted({*before.options, *asked.options})
        ),
    )
    yield from (each for each in pairs if each[1] != each[2])
