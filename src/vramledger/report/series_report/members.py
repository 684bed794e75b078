"""The runs of a series, each in a line: what it is, how it ended, and by which hash it is known."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.record.description import FILE
from vramledger.record.run import read_run
from vramledger.record.soundness import check_sound
from vramledger.report.html.titled_table import Table
from vramledger.report.run_report.about import about_rows
from vramledger.report.run_report.model import words_of
from vramledger.trial.conduct.summary import summarise

if TYPE_CHECKING:
    from vramledger.record.document import Origin
    from vramledger.record.run import Run

_OF_ONE: Final = frozenset(
    {"name", "began", "over", "ended", "load", "run, SHA-256"}
)  # what its runs differ in
_SHORT: Final = 32  # characters that fit a column
_MOST: Final = 3


@frozen
class Members:
    """The closed runs of a series, in the order of their folders; `refused` says why others cannot be read, a sentence each."""

    runs: "tuple[Run, ...]"
    refused: tuple[str, ...] = ()

    @property
    def origins(self) -> "tuple[Origin, ...]":
        """Each once."""
        return tuple(sorted({run.description.origin for run in self.runs}))

    @property
    def words(self) -> tuple[str, ...]:
        """What they are where no server was measured here."""
        return tuple(sorted({word for run in self.runs for word in words_of(run.description)}))

    @property
    def unsound(self) -> tuple[str, ...]:
        """What is wrong with their records, a sentence each."""
        return tuple(said for run in self.runs for said in _unsound(run))


def members_of(folder: Path) -> Members:
    """The closed runs within a folder and the folders in it."""
    runs, refused = [], []
    for each in sorted([*folder.glob(f"*/{FILE}"), *folder.glob(f"*/*/{FILE}")]):
        try:
            runs.append(read_run(each.parent.resolve()))
        except BadInput as error:
            refused.append(str(error))
    return Members(tuple(runs), tuple(refused))


def member_table(members: Members, what: str, told: Mapping[str, str], folder: Path) -> Table:
    """A row a run; `told` says what each is, by the name of its folder, under the head `what`."""
    rows = tuple(
        (
            str(run.path.relative_to(folder.resolve())),
            told.get(run.path.name, ""),
            str(run.description.ended or "not closed"),
            _second(run.description.started_at),
            run.description.sha256 or "unknown",
        )
        for run in members.runs
    )
    head = ("run", what, "ended", "began", "SHA-256")
    note = f"Each is a run with a report of its own: vram report {folder.resolve().name}/RUN -o run.html."
    unbroken = frozenset({0, 3} if all(len(row[0]) <= _SHORT for row in rows) else {3})
    return Table("Its runs", head, rows, frozenset({1}), (note,), unbroken)


def in_few(found: Sequence[tuple[str, str]], parts: int, what: str) -> tuple[str, ...]:
    """What single runs (name, sentence) have against them; of many the first stands for all."""
    names = tuple(dict.fromkeys(name for name, _ in found))
    if len(names) <= _MOST:
        return tuple(f"{name}: {said}" for name, said in found)
    name, said = found[0]
    return (
        f"{len(names)} of {parts} {what} have something against their figures, such as {name}: {said}",
    )


def _second(moment: str | None) -> str:
    """Without the part of a second."""
    return "unknown" if moment is None else f"{moment.partition('.')[0].removesuffix('Z')}Z"


def deployment_table(members: Members) -> Table | None:
    """What the first of them was made on; None without one."""
    if not members.runs:
        return None
    first = members.runs[0]
    rows = tuple(each for each in about_rows(first, summarise(first)) if each[0] not in _OF_ONE)
    return Table(f"What was run, as {first.path.name} tells it", ("", ""), rows)


def tables(*found: Table | None) -> tuple[Table, ...]:
    """Those that there are."""
    return tuple(each for each in found if each is not None)


def _unsound(run: "Run") -> Sequence[str]:
    try:
        check_sound(run)
    except BadInput as error:
        return [str(error)]
    return []
