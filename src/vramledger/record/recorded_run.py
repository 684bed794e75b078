"""A run written while it happens: killed at any moment, it loses at most its last second."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from vramledger.errors import BadInput
from vramledger.record.closing import close_recorded, writable
from vramledger.record.description import read_description, write_description
from vramledger.record.journal import FILE, Journal
from vramledger.record.recorder import FLUSH_S, Recorder
from vramledger.record.requests import RequestRecord
from vramledger.record.table import Table
from vramledger.record.tables import Row

if TYPE_CHECKING:
    import pyarrow as pa

    from vramledger.record.document import Description, Ended


class RecordedRun:
    """A run directory that grows; used in a `with` block, whose end closes the run.

    Worker processes add their rows through a `Recorder` of their own with another `writer`, and end
    it before this is closed.

    Raises:
        BadInput: the folder is taken, is being recorded, or cannot be written.
    """

    def __init__(self, folder: Path, description: "Description", flush_s: float = FLUSH_S) -> None:
        self.folder, self._description = folder, description
        with writable(folder):
            folder.mkdir(parents=True, exist_ok=True)
            self._journal = Journal(folder)
        self._recorder = Recorder(folder, flush_s=flush_s, also=self._journal.sync)
        self._closed = False

    @classmethod
    def start(
        cls, folder: Path, description: "Description", flush_s: float = FLUSH_S
    ) -> "RecordedRun":
        """Begin a run in a folder that is empty or not there."""
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise BadInput(
                f"{folder} holds something already; name a folder that is not there yet."
            )
        was_there = folder.exists()
        run = cls(folder, description, flush_s)
        try:
            with writable(folder):
                write_description(folder, description)
        except BadInput:
            run._journal.close()
            _leave_nothing(folder, was_there=was_there)
            raise
        return run

    @classmethod
    def resume(cls, folder: Path, flush_s: float = FLUSH_S) -> "RecordedRun":
        """Go on with a run whose recorder vanished; its clock must go on from the same zero."""
        description = read_description(folder)
        if description.ended is not None:
            raise BadInput(
                f"{folder} is closed ({description.ended.value}) and takes no more records; start "
                "another run."
            )
        return cls(folder, description, flush_s)

    def __enter__(self) -> Self:
        self._recorder.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        from vramledger.record.document import Ended

        if self._closed:
            return
        if kind is None:
            self.close(Ended.COMPLETE)
            return
        try:
            self.close(Ended.INTERRUPTED if kind is KeyboardInterrupt else Ended.FAILED)
        except BadInput:  # the first error is the one to hear of; the segments stay
            self._journal.close()

    @property
    def description(self) -> "Description":
        """What the run says of itself so far."""
        return self._description

    @property
    def closed(self) -> bool:
        """Whether its tables are made and it takes no more records."""
        return self._closed

    def append(self, row: Row) -> None:
        """Add a row to the table of its kind."""
        self._recorder.append(row)

    def begin(self, record: RequestRecord) -> None:
        """Say that a request is on its way: should nothing follow, the record stands as it is here."""
        self._recorder.begin(record)

    def add_batch(self, table: Table, batch: "pa.RecordBatch") -> None:
        """Add many rows at once, in the table's schema."""
        self._recorder.add_batch(table, batch)

    def note(self, t_s: float, event: str, **details: Any) -> None:
        """Add a line to the journal."""
        with writable(self.folder):
            self._journal.append(t_s, event, **details)

    def update(self, **values: Any) -> None:
        """Replace keys of the description that were learned on the way, such as `in_effect`."""
        self._description = self._description.model_copy(update=values)
        with writable(self.folder):
            write_description(self.folder, self._description)

    def close(self, ended: "Ended", ended_at: str | None = None) -> "Description":
        """Turn the segments into tables and seal the run.

        Raises:
            BadInput: it cannot be written; the segments stay, and `close_interrupted` tries again.
        """
        self._recorder.close()
        with writable(self.folder):
            closed = close_recorded(self.folder, self._description, self._journal, ended, ended_at)
        self._closed = True
        return closed


def _leave_nothing(folder: Path, *, was_there: bool) -> None:
    """Take away a run that has not begun."""
    (folder / FILE).unlink(missing_ok=True)
    if not was_there:
        folder.rmdir()
