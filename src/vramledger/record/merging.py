"""Segments become the tables of a closed run, sorted, out of core."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.database import connected
from vramledger.frozen import frozen
from vramledger.record.parquet import TableFile
from vramledger.record.requests import REQUESTS
from vramledger.record.segments import segments, whole_batches
from vramledger.record.table import Table, arrow_schema
from vramledger.record.tables import TABLES

if TYPE_CHECKING:
    import pyarrow as pa

    from vramledger.record.document import Origin, StoredTable

BEGUN: Final = "begun"  # segments of requests that were sent, as they would be if nothing followed
_SCRATCH: Final = ".merging-"
_BATCH: Final = 8_192
_RECORDED: Final = "SELECT * FROM recorded"
_REQUESTS: Final = """
    SELECT * FROM recorded UNION ALL
    SELECT * FROM begun WHERE request_id NOT IN (SELECT request_id FROM ended)
"""


@frozen
class Merged:
    """The tables that were written, and the names of segments of which the end is lost."""

    tables: Mapping[str, "StoredTable"]
    torn: tuple[str, ...]


def merge(folder: Path, origin: "Origin") -> Merged:
    """Write the tables of what the segments of a run hold; the segments stay.

    `requests` is always written. A request that was begun and never ended gets its begun row.

    Raises:
        OSError: a table cannot be written.
    """
    for left in folder.glob(f"{_SCRATCH}*"):  # by one that was killed
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=_SCRATCH) as scratch:
        torn: set[Path] = set()
        tables: dict[str, StoredTable] = {}
        for table in TABLES:
            if table is REQUESTS or segments(folder, table.name):
                with TableFile(folder, table, origin) as file:
                    for batch in _sorted(folder, table, Path(scratch), torn):
                        file.add_batch(batch)
                    tables[table.name] = file.finish()
    return Merged(tables, tuple(sorted(path.name for path in torn)))


def _sorted(
    folder: Path, table: Table, scratch: Path, torn: set[Path]
) -> Iterator["pa.RecordBatch"]:
    order = ", ".join(f"{name} NULLS LAST" for name in table.order)
    query = _REQUESTS if table is REQUESTS else _RECORDED
    with connected(scratch / "sort") as connection:
        connection.register("recorded", _reader(folder, table, table.name, torn))
        if table is REQUESTS:
            connection.register("ended", _reader(folder, table, table.name, torn))
            connection.register("begun", _reader(folder, table, BEGUN, torn))
        found = connection.sql(query).order(order)
        reader: Any = found.to_arrow_reader(_BATCH)
        for batch in reader:
            yield batch.cast(arrow_schema(table))


def _reader(folder: Path, table: Table, name: str, torn: set[Path]) -> "pa.RecordBatchReader":
    import pyarrow as pa

    return pa.RecordBatchReader.from_batches(
        arrow_schema(table), whole_batches(table, segments(folder, name), torn.add)
    )
