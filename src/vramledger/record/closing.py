"""The end of a run: its tables hashed, its description sealed, its segments gone."""

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from vramledger.errors import BadInput
from vramledger.record import journal
from vramledger.record.description import read_description, sealed, write_description
from vramledger.record.durable import file_sha256
from vramledger.record.journal import Journal
from vramledger.record.merging import merge
from vramledger.record.segments import FOLDER

if TYPE_CHECKING:
    from vramledger.record.document import Description, Ended, StoredTable


def close_interrupted(folder: Path, ended_at: str | None = None) -> "Description":
    """Close a run whose recorder vanished: its tables hold what had been written.

    A run that is closed already stays as it is.

    Raises:
        BadInput: no run, still being recorded, or its tables cannot be written.
    """
    from vramledger.record.document import Ended

    description = read_description(folder)
    if description.ended is not None:
        return description
    with writable(folder):
        log = Journal(folder)
        try:
            return close_recorded(folder, description, log, Ended.KILLED, ended_at)
        finally:
            log.close()


def close_recorded(
    folder: Path,
    description: "Description",
    log: Journal,
    ended: "Ended",
    ended_at: str | None,
) -> "Description":
    """Make the tables of the segments, then seal; killed in between, it can be done again.

    Raises:
        OSError: something cannot be written.
    """
    merged = merge(folder, description.origin)
    log.close()
    whole = description.model_copy(update={"torn_segments": list(merged.torn)})
    closed = seal(folder, whole, merged.tables, ended, ended_at)
    shutil.rmtree(folder / FOLDER, ignore_errors=True)  # nothing reads them any more
    return closed


def seal(
    folder: Path,
    description: "Description",
    tables: Mapping[str, "StoredTable"],
    ended: "Ended",
    ended_at: str | None,
) -> "Description":
    """Write run.json with the hashes of all files and, over them, its own."""
    whole = description.model_copy(
        update={
            "tables": dict(tables),
            "journal_sha256": file_sha256(folder / journal.FILE),
            "ended": ended,
            "ended_at": ended_at,
        }
    )
    closed = sealed(whole)
    write_description(folder, closed)
    return closed


@contextmanager
def writable(folder: Path) -> Iterator[None]:
    """Says in a sentence that the folder cannot be written.

    Raises:
        BadInput: in place of an OSError.
    """
    try:
        yield
    except OSError as error:
        raise BadInput(
            f"{folder} cannot be written: {error.strerror or error}; make room there or name another "
            "folder."
        ) from None
