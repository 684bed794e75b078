"""Segments become the tables of a closed run, sorted, out of core."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.database import connected
from vramledger.record.parquet import TableFile
from vramledger.record.requests import REQUESTS
from vramledger.record.segments import segments, whole_batches
from vramledger.record.table import Table, arrow_schema
from vramledger.record.tables import TABLES

if TYPE_CHECKING:
    import pyarrow as pa

    from vramledger.record.document import Origin, StoredTable

BEGUN: Final = "begun"  # segments of requests that were sent, as they would be if nothing followed
_BATCH: Final = 8_192
_RECORDED: Final = "SELECT * FROM recorded"
_REQUESTS: Final = """
    SELECT * FROM recorded UNION ALL
    SELECT * FROM begun WHERE request_id NOT IN (SELECT request_id FROM ended)
"""


def merge(folder: Path, origin: "Origin") -> dict[str, "StoredTable"]:
    """Write the tables of what the segments of a run hold; the segments stay.

    `requests` is always written. A request that was begun and never ended gets its begun row.

    Raises:
        OSError: a table cannot be written.
    """
    with tempfile.TemporaryDirectory(dir=folder, prefix=".merging-") as scratch:
        return {
            table.name: _merged(folder, table, origin, Path(scratch))
            for table in TABLES
            if table is REQUESTS or segments(folder, table.name)
        }


def _merged(folder: Path, table: Table, origin: "Origin", scratch: Path) -> "StoredTable":
    with TableFile(folder, table, origin) as file:
        for batch in _sorted(folder, table, scratch):
            file.add_batch(batch)
        return file.finish()


def _sorted(folder: Path, table: Table, scratch: Path) -> Iterator["pa.RecordBatch"]:
    order = ", ".join(f"{name} NULLS LAST" for name in table.order)
    query = _REQUESTS if table is REQUESTS else _RECORDED
    with connected(scratch / "sort") as connection:
        connection.register("recorded", _reader(folder, table, table.name))
        if table is REQUESTS:
            connection.register("ended", _reader(folder, table, table.name))
            connection.register("begun", _reader(folder, table, BEGUN))
        found = connection.sql(query).order(order)
        reader: Any = found.to_arrow_reader(_BATCH)
        for batch in reader:
            yield batch.cast(arrow_schema(table))


def _reader(folder: Path, table: Table, name: str) -> "pa.RecordBatchReader":
    import pyarrow as pa

    return pa.RecordBatchReader.from_batches(
        arrow_schema(table), whole_batches(segments(folder, name))
    )
