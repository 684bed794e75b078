"""A side of a comparison: one run, or several that repeat one another."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from vramledger.compare.difference import Kind
from vramledger.compare.differing import differing
from vramledger.compare.records import Records, records_of
from vramledger.compare.told import Told, told_of
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.methods.repeated.series import counted, is_series, read_series
from vramledger.methods.repeated.turns import Side as Turned
from vramledger.record.run import Run, read_run

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@frozen
class OneOf:
    """A run of a side: its record, its requests, and what it tells."""

    run: Run
    records: Records
    told: Told


@frozen
class Side:
    """`name` is its letter. `turned` is whether its runs were made in turn with those of the other side, number by number."""

    name: str
    runs: tuple[OneOf, ...]
    turned: bool = False

    @property
    def told(self) -> Told:
        """What its first run tells; `discord` says where others tell otherwise."""
        return self.runs[0].told

    @property
    def paths(self) -> tuple[Path, ...]:
        """The folders of its runs."""
        return tuple(each.run.path for each in self.runs)


def read_sides(words: Sequence[str]) -> tuple[Side, ...]:
    """A side a word: a run, several with commas between them, or a folder of repetitions; one of two servers in turn is two sides.

    Raises:
        BadInput: fewer than two sides, a folder is no run, or a run is damaged.
    """
    if len(words) == 1 and (sides := _in_turn(Path(words[0]))):
        return sides
    if len(words) < 2:
        raise BadInput(
            "Name two runs or more to compare; a side of several runs has commas between them, and one folder alone must hold "
            "two servers in turn (vram trial repeat --a --b)."
        )
    if len(words) > len(_LETTERS):
        raise BadInput(f"{len(words)} sides are more than can be compared at a time; name {len(_LETTERS)} at most.")  # fmt: skip
    return tuple(
        Side(letter, tuple(_read(path) for path in _paths(word)))
        for letter, word in zip(_LETTERS, words, strict=False)
    )


def _in_turn(folder: Path) -> tuple[Side, ...]:
    """The two sides of a folder of repetitions; none where it is something else."""
    if not is_series(folder):
        return ()
    series = read_series(folder)
    if series.order is None:
        return ()
    found = {
        side: {each.turn.number: each.folder for each in counted(folder, series) if each.turn.side is side}
        for side in Turned
    }  # fmt: skip
    both = sorted(found[Turned.A].keys() & found[Turned.B].keys())
    if not both:
        raise BadInput(f"{folder} holds no whole pair of runs yet; vram trial resume {folder} makes what is missing.")  # fmt: skip
    return tuple(
        Side(letter, tuple(_read(found[side][number]) for number in both), turned=True)
        for letter, side in zip("AB", Turned, strict=True)
    )


def _paths(word: str) -> Iterator[Path]:
    for part in word.split(","):
        folder = Path(part)
        if not is_series(folder):
            yield folder
            continue
        series = read_series(folder)
        if series.order is not None:
            raise BadInput(f"{folder} holds two servers in turn, which are two sides; name it alone, or name its runs.")  # fmt: skip
        runs = [each.folder for each in counted(folder, series)]
        if not runs:
            raise BadInput(f"{folder} holds no closed run; vram trial resume {folder} makes them.")
        yield from runs


def _read(folder: Path) -> OneOf:
    run = read_run(folder)
    records = records_of(run)
    if not len(records):
        raise BadInput(f"{folder} holds no requests of a workload, so there is nothing to compare; name another run.")  # fmt: skip
    return OneOf(run, records, told_of(run, records))


def discord(side: Side) -> Iterator[str]:
    """Why runs of one side are no repetitions of one another, a sentence each."""
    first, *others = side.runs
    for one in others:
        for each in differing(first.told, one.told):
            if each.kind is Kind.CHANGE:
                yield (
                    f"The runs of {side.name} are no repetitions of one another: the {each.title} is {each.a} in "
                    f"{first.run.path.name} and {each.b} in {one.run.path.name}."
                )
