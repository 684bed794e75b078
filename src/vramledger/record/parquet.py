"""The Parquet files of a run: written whole, with the run's origin in each of them."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from vramledger.record.durable import file_sha256, publish, sync_file
from vramledger.record.table import METADATA_KEY, Table, arrow_schema
from vramledger.record.tables import Row, batch_of

if TYPE_CHECKING:
    import pyarrow as pa

    from vramledger.record.document import Origin, StoredTable

_GROUP_ROWS: Final = 131_072
_GROUP_BYTES: Final = 1 << 26  # a row of a long stream has thousands of chunks
_HELD_ROWS: Final = 16_384


class TableFile:
    """One table on its way into its file, which appears when `finish` is called.

    Rows are cut into groups by number and size, not by how they were given: equal rows, equal bytes.

    Raises:
        OSError: it cannot be written.
    """

    def __init__(self, folder: Path, table: Table, origin: "Origin") -> None:
        import pyarrow.parquet as pq

        self._table, self._path = table, folder / table.file
        self._waiting = self._path.with_name(f".{table.file}.waiting")
        metadata = json.dumps({"origin": origin.value, "schema": table.schema_name}, sort_keys=True)
        self._schema = arrow_schema(table).with_metadata({METADATA_KEY: metadata.encode()})
        self._writer = pq.ParquetWriter(
            self._waiting, self._schema, compression="zstd", write_page_index=True
        )
        self._groups = _Groups()
        self._held: list[Row] = []
        self._rows = 0

    def append(self, row: Row) -> None:
        """Add a row."""
        self._held.append(row)
        if len(self._held) == _HELD_ROWS:
            self._write_held()

    def add_batch(self, batch: "pa.RecordBatch") -> None:
        """Add a batch of the table's schema, after the rows before it."""
        self._write_held()
        self._write(self._groups.add(batch))

    def finish(self) -> "StoredTable":
        """The file is in its place and on disk."""
        from vramledger.record.document import StoredTable

        self._write_held()
        self._write(self._groups.rest())
        self._writer.close()
        sync_file(self._waiting)
        publish(self._waiting, self._path)
        return StoredTable(rows=self._rows, sha256=file_sha256(self._path))

    def abandon(self) -> None:
        """Leave nothing behind."""
        self._writer.close()
        self._waiting.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.abandon()

    def _write_held(self) -> None:
        held, self._held = self._held, []
        if held:
            self._write(self._groups.add(batch_of(self._table, held)))

    def _write(self, groups: Iterable["pa.Table"]) -> None:
        for group in groups:
            self._writer.write_table(group.cast(self._schema), row_group_size=len(group))
            self._rows += len(group)


class _Groups:
    """Cuts batches into row groups; where it cuts depends on nothing but the rows."""

    def __init__(self) -> None:
        self._held: list[pa.RecordBatch] = []
        self._bytes = self._count = 0

    def add(self, batch: "pa.RecordBatch") -> Iterator["pa.Table"]:
        sizes = _sizes(batch)
        start = 0
        while start < len(batch):
            room = _GROUP_BYTES - self._bytes
            stop = start + int((sizes[start:].cumsum() <= room).sum())
            stop = min(stop, start + _GROUP_ROWS - self._count)
            if stop == start and not self._count:
                stop = start + 1  # a row larger than a group
            if stop > start:
                self._held.append(batch.slice(start, stop - start))
                self._bytes += int(sizes[start:stop].sum())
                self._count += stop - start
            if stop < len(batch):
                yield from self.rest()
            start = stop

    def rest(self) -> Iterator["pa.Table"]:
        import pyarrow as pa

        held, self._held = self._held, []
        self._bytes = self._count = 0
        if held:
            yield pa.Table.from_batches(held)


def _sizes(batch: "pa.RecordBatch") -> Any:
    """Bytes that each row takes, as int64; entries of lists count 8 bytes each."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    sizes = np.full(len(batch), 8 * batch.num_columns, dtype=np.int64)
    for column in batch.columns:
        if pa.types.is_list(column.type):
            sizes += 8 * pc.fill_null(pc.list_value_length(column), 0).to_numpy().astype(np.int64)
    return sizes
