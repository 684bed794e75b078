"""Series of runs in a bundle: repetitions, a ramp, a soak, each as the folder that its verb wrote."""

import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vramledger.bundle.archive import unfit_name
from vramledger.bundle.contents import SERIES, Placed, place_run
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.record.description import FILE as RUN_JSON

if TYPE_CHECKING:
    from vramledger.record.run import Run

REPEAT, RAMP, SOAK = "repeat", "ramp", "soak"
_FILES: Final = {f"{kind}.json": kind for kind in (REPEAT, RAMP, SOAK)}


@frozen
class SeriesRuns:
    """A folder of a series: its kind, its record's file, and its runs by their place in it."""

    path: Path
    kind: str
    runs: "tuple[tuple[str, Run], ...]"

    @property
    def file(self) -> str:
        """The name of its record."""
        return f"{self.kind}.json"


@frozen
class PlacedSeries:
    """A series in a bundle: its folder there, its kind, and its runs."""

    folder: str
    kind: str
    runs: tuple[Placed, ...]


def kind_at(path: Path) -> str | None:
    """What a folder is a series of; None where it is none."""
    return next((kind for file, kind in _FILES.items() if (path / file).is_file()), None)


def series_folders(path: Path) -> Iterator[str]:
    """Every run in the folder, those that were cut off or do not count as well: who leaves some out chooses.

    Raises:
        BadInput: one of them has a name that no bundle takes.
    """
    for each in sorted(path.rglob(RUN_JSON)):
        name = each.parent.relative_to(path).as_posix()
        if unfit_name(name) is not None:
            raise BadInput(
                f"{each.parent} {unfit_name(name)}, so no bundle takes it; leave the names that the verb gave."
            )
        yield name


def place_series(found: Iterable[SeriesRuns], folder: Path) -> list[PlacedSeries]:
    """Copy records and runs, in the order given."""
    placed = []
    for number, each in enumerate(found, 1):
        name = f"{SERIES}/{number:03d}"
        runs = tuple(place_run(run, f"{name}/{place}", folder) for place, run in each.runs)
        (folder / name).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(each.path / each.file, folder / name / each.file)
        placed.append(PlacedSeries(name, each.kind, runs))
    return placed


def series_in(folder: Path, placed: Iterable[Placed]) -> list[PlacedSeries]:
    """The series of a bundle, by the folders of its runs."""
    runs: dict[str, list[Placed]] = {}
    for each in placed:
        if each.is_of_series:
            runs.setdefault("/".join(each.name.split("/")[:2]), []).append(each)
    return [
        PlacedSeries(name, kind, tuple(found))
        for name, found in sorted(runs.items())
        if (kind := kind_at(folder / name)) is not None
    ]
