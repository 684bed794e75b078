"""A run as it lies on disk, simulated or measured: its description, its tables, its journal."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen
from vramledger.named_file import opened
from vramledger.record import journal
from vramledger.record.description import read_description
from vramledger.record.durable import stream_sha256
from vramledger.record.journal import Entries, read_journal
from vramledger.record.requests import REQUESTS
from vramledger.record.stored import TableOnDisk, open_table
from vramledger.record.table import Table
from vramledger.record.tables import BY_NAME

if TYPE_CHECKING:
    from vramledger.record.document import Description


@frozen
class Run:
    """A closed run. `tables` holds those it has, by name; `requests` is always among them."""

    path: Path
    description: "Description"
    tables: Mapping[str, TableOnDisk]

    @property
    def requests(self) -> TableOnDisk:
        """Its requests."""
        return self.tables[REQUESTS.name]

    def table(self, table: Table) -> TableOnDisk:
        """One of its tables.

        Raises:
            CannotKnow: the run has none.
        """
        if table.name not in self.tables:
            raise CannotKnow(
                f"{self.path} has no {table.file}: a run of origin {self.description.origin.value} "
                "need not have it; use one that recorded it."
            )
        return self.tables[table.name]

    def journal(self) -> Entries:
        """What happened in it.

        Raises:
            BadInput: it cannot be read.
        """
        return read_journal(self.path)

    def check_unchanged(self) -> None:
        """Compare every file with the hash that run.json has for it.

        This says that nothing changed since closing, not that the run is genuine.

        Raises:
            BadInput: one differs or is gone, by name.
        """
        stated = {BY_NAME[name].file: self.description.tables[name].sha256 for name in self.tables}
        for name, sha256 in {**stated, journal.FILE: self.description.journal_sha256}.items():
            with opened(self.path / name, "a file of a run") as file:
                found = stream_sha256(file.stream)
            if found != sha256:
                raise BadInput(
                    f"{self.path / name} was changed after the run was closed; use an unchanged copy."
                )


def read_run(folder: Path) -> Run:
    """Open a closed run; of its tables only the heads are read.

    Raises:
        BadInput: no run, not closed, damaged or changed.
    """
    if not folder.is_dir():
        raise BadInput(f"{folder} is no folder, and a run is one; name the folder of a run.")
    description = read_description(folder)
    if description.ended is None:
        raise BadInput(
            f"{folder} was never closed: it is being recorded, or its recorder was stopped; wait, or "
            f"go on with `vram trial resume {folder}`, which closes it with --close."
        )
    if REQUESTS.name not in description.tables:
        raise BadInput(f"{folder} lists no table of requests; use an unchanged copy.")
    return Run(
        folder,
        description,
        {
            name: _opened(folder, name, description)
            for name in description.tables
            if name in BY_NAME
        },
    )


def _opened(folder: Path, name: str, description: "Description") -> TableOnDisk:
    table = open_table(folder, BY_NAME[name], description.origin)
    stated = description.tables[name].rows
    if table.rows != stated:
        raise BadInput(
            f"{table.path} has {table.rows:,} rows, and run.json says {stated:,}; use an unchanged "
            "copy of the run."
        )
    return table
