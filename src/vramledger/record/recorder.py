"""Rows of a run that is being recorded in several processes: each has a recorder of its own."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self

from vramledger.errors import BadInput
from vramledger.record.merging import BEGUN
from vramledger.record.requests import REQUESTS, RequestRecord
from vramledger.record.segments import Segment
from vramledger.record.table import Table
from vramledger.record.tables import ROW_TYPES, Row, batch_of

if TYPE_CHECKING:
    import pyarrow as pa

FLUSH_S: Final = 0.5  # with the time of the flush itself, well under the second that may be lost


class Recorder:
    """Puts rows into segments of its own, and on disk every `flush_s` seconds from a thread.

    Used in a `with` block. `writer` tells the processes of one run apart; `also` is called at each
    flush.

    Raises:
        BadInput: what was recorded could not be written; raised where the next row is added, or at the end.
    """

    def __init__(
        self,
        folder: Path,
        writer: str = "main",
        flush_s: float = FLUSH_S,
        also: Callable[[], None] = lambda: None,
    ) -> None:
        self._folder, self._writer, self._flush_s, self._also = folder, writer, flush_s, also
        self._segments: dict[str, Segment] = {}
        self._opening = threading.Lock()  # rows come from several threads
        self._stopping = threading.Event()
        self._failure: BadInput | None = None
        self._thread = threading.Thread(target=self._keep_flushing, daemon=True)

    def __enter__(self) -> Self:
        import pyarrow.ipc  # noqa: F401 - now, and not between two requests

        batch_of(REQUESTS, [RequestRecord(0)])  # pyarrow imports pandas for its first array
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            self.close()
        except BadInput:
            if kind is None:
                raise

    def open_for_requests(self) -> None:
        """Open what requests go into now: later, a client may have no file left but its connections.

        Raises:
            BadInput: it cannot be.
        """
        self._segment(REQUESTS, REQUESTS.name)
        self._segment(REQUESTS, BEGUN)

    def append(self, row: Row) -> None:
        """Add a row to the table of its kind."""
        table = ROW_TYPES[type(row)]
        self._segment(table, table.name).append(row)

    def begin(self, record: RequestRecord) -> None:
        """Say that a request is on its way: should nothing follow, the record stands as it is here."""
        self._segment(REQUESTS, BEGUN).append(record)

    def add_batch(self, table: Table, batch: "pa.RecordBatch") -> None:
        """Add many rows at once, in the table's schema."""
        self._segment(table, table.name).add_batch(batch)

    def close(self) -> None:
        """Everything that was added is on disk; a second call does nothing.

        Raises:
            BadInput: it is not.
        """
        if self._stopping.is_set():
            return
        self._stopping.set()
        self._thread.join()
        self._guarded(self._end)
        self._raise_failure()

    def _segment(self, table: Table, name: str) -> Segment:
        self._raise_failure()
        if name not in self._segments:
            with self._opening:
                if name not in self._segments:
                    self._guarded(self._open, table, name)
            self._raise_failure()
        return self._segments[name]

    def _open(self, table: Table, name: str) -> None:
        self._segments[name] = Segment(self._folder, table, name, self._writer)

    def _keep_flushing(self) -> None:
        while not self._stopping.wait(self._flush_s) and self._failure is None:
            self._guarded(self._flush)

    def _flush(self) -> None:
        for segment in list(self._segments.values()):
            segment.flush()
        self._also()

    def _end(self) -> None:
        try:
            for segment in self._segments.values():
                if self._failure is None:
                    segment.close()
        finally:
            for segment in self._segments.values():
                segment.abandon()

    def _guarded(self, call: Callable[..., None], *arguments: object) -> None:
        """Run the call; keep what went wrong for whoever adds the next row."""
        import pyarrow as pa

        try:
            call(*arguments)
        except OSError as error:
            self._failure = BadInput(
                f"{self._folder} cannot be written: {error.strerror or error}; what was recorded so far "
                "stays, so make room and resume it."
            )
        except (pa.ArrowException, OverflowError) as error:
            self._failure = BadInput(
                f"{self._folder}: a recorded value does not fit its column ({error}); its rows were "
                "not written, and the run is not to be used."
            )

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure
