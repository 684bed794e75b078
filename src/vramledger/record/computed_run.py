"""A run that is computed: its directory appears whole or not at all, and equal runs are equal bytes."""

import errno
import os
import shutil
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Self

from vramledger.errors import BadInput
from vramledger.record.closing import seal, writable
from vramledger.record.journal import Journal
from vramledger.record.parquet import TableFile
from vramledger.record.requests import REQUESTS
from vramledger.record.table import Table
from vramledger.record.tables import ROW_TYPES, Row

if TYPE_CHECKING:
    import pyarrow as pa

    from vramledger.record.document import Description, Ended


def refuse_folder(folder: Path) -> None:
    """Refuse a place where no run can be put: cheap, so that it can come before a long computation.

    Raises:
        BadInput: the folder is taken or cannot be written.
    """
    with writable(folder):
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise BadInput(
                f"{folder} holds something already; name a folder that is not there yet."
            )
        above = next(parent for parent in folder.absolute().parents if parent.exists())
        if not above.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, f"{above} is a file")
        if not os.access(above, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


class ComputedRun:
    """A run directory built beside its place; used in a `with` block, whose end puts it there.

    Rows keep the order they are given in, which should be that of the tables. An error in the block
    leaves nothing behind. No moment of the day gets into it unless the description has one.

    Raises:
        BadInput: the folder is taken or cannot be written.
    """

    def __init__(self, folder: Path, description: "Description") -> None:
        refuse_folder(folder)
        self.folder, self._description = folder, description
        with writable(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            self._work = folder.with_name(f".{folder.name}-{token_hex(4)}")
            self._work.mkdir()
            self._journal = Journal(self._work)
        self._files: dict[str, TableFile] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        from vramledger.record.document import Ended

        try:
            if kind is None and self._work.exists():
                self.close(Ended.COMPLETE)
        finally:
            self._abandon()

    def append(self, row: Row) -> None:
        """Add a row to the table of its kind."""
        with writable(self.folder):
            self._file(ROW_TYPES[type(row)]).append(row)

    def add_batch(self, table: Table, batch: "pa.RecordBatch") -> None:
        """Add many rows at once, in the table's schema."""
        with writable(self.folder):
            self._file(table).add_batch(batch)

    def note(self, t_s: float, event: str, **details: Any) -> None:
        """Add a line to the journal."""
        with writable(self.folder):
            self._journal.append(t_s, event, **details)

    def close(self, ended: "Ended") -> "Description":
        """Seal the run and put it in its place.

        Raises:
            BadInput: it cannot be written.
        """
        with writable(self.folder):
            self._file(REQUESTS)
            tables = {name: file.finish() for name, file in self._files.items()}
            self._files.clear()
            self._journal.close()
            closed = seal(self._work, self._description, tables, ended, self._description.ended_at)
            self._work.rename(self.folder)
        return closed

    def _file(self, table: Table) -> TableFile:
        if table.name not in self._files:
            self._files[table.name] = TableFile(self._work, table, self._description.origin)
        return self._files[table.name]

    def _abandon(self) -> None:
        for file in self._files.values():
            file.abandon()
        self._journal.close()
        shutil.rmtree(self._work, ignore_errors=True)
