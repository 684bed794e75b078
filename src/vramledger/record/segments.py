"""Rows on their way to disk: Arrow streams that hold every batch they were given, whenever they end.

A recorder that is killed leaves its streams without an end, and perhaps with a torn last batch.
Readers take every whole batch and stop there.
"""

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vramledger.record.table import Table, arrow_schema
from vramledger.record.tables import Row, batch_of

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER: Final = "segments"
_SUFFIX: Final = ".arrows"
_NAME: Final = re.compile(r"[a-z]+\.[\w-]+\.(\d+)\.arrows")


class Segment:
    """One growing stream of rows of a table, named for what it holds and for its writer.

    `append` only puts a row in memory; `flush` makes it survive. Both may be called from any thread.

    Raises:
        OSError: it cannot be written.
    """

    def __init__(self, folder: Path, table: Table, name: str, writer: str) -> None:
        import pyarrow as pa

        self._table = table
        self._rows: list[Row] = []
        self._adding, self._writing = threading.Lock(), threading.Lock()
        self._file = _next(folder, f"{name}.{writer}").open("xb")
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        self._stream = pa.ipc.new_stream(self._file, arrow_schema(table), options=options)

    def append(self, row: Row) -> None:
        """Hold a row until the next flush."""
        with self._adding:
            self._rows.append(row)

    def add_batch(self, batch: "pa.RecordBatch") -> None:
        """Write a batch of the table's schema, after the rows before it."""
        with self._writing:
            self._write_rows()
            self._stream.write_batch(batch)

    def flush(self) -> None:
        """Put everything that was added on disk.

        Raises:
            pyarrow.ArrowException: a value does not fit its column; the rows are not written.
        """
        with self._writing:
            self._write_rows()
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Flush and end the stream."""
        self.flush()
        self._stream.close()
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def abandon(self) -> None:
        """Let go of the file as it is; after `close` this does nothing."""
        self._file.raw.close()  # what is not written yet could fail again

    def _write_rows(self) -> None:
        with self._adding:
            rows, self._rows = self._rows, []
        if rows:
            self._stream.write_batch(batch_of(self._table, rows))


def segments(folder: Path, name: str) -> tuple[Path, ...]:
    """The streams of that name in a run's folder, in the order of their making."""
    found = (folder / FOLDER).glob(f"{name}.*{_SUFFIX}")
    return tuple(sorted(found, key=lambda path: (_number(path), path.name)))


def whole_batches(
    table: Table, paths: Iterable[Path], torn: Callable[[Path], None] = lambda _path: None
) -> Iterator["pa.RecordBatch"]:
    """Every batch of the table that was written whole.

    `torn` hears of each stream in which more follows, or whose head is no longer that of the table.
    """
    for path in paths:
        yield from _whole_batches(table, path, torn)


def _whole_batches(
    table: Table, path: Path, torn: Callable[[Path], None]
) -> Iterator["pa.RecordBatch"]:
    import pyarrow as pa

    if not path.stat().st_size:
        return  # nothing was written yet, so nothing is lost
    with pa.OSFile(str(path)) as source:
        try:
            reader = pa.ipc.open_stream(source)
            if not reader.schema.equals(arrow_schema(table)):
                raise pa.ArrowInvalid("another table's columns")
            while True:
                batch = reader.read_next_batch()
                batch.validate(full=True)
                yield batch
        except StopIteration:
            return
        except (pa.ArrowException, OSError, UnicodeDecodeError):
            torn(path)


def _next(folder: Path, stem: str) -> Path:
    place = folder / FOLDER
    place.mkdir(exist_ok=True)
    number = 1 + max((_number(path) for path in place.iterdir()), default=0)
    return place / f"{stem}.{number:04}{_SUFFIX}"


def _number(path: Path) -> int:
    match = _NAME.fullmatch(path.name)
    return int(match[1]) if match else 0
