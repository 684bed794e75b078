"""A table of a closed run, opened where it lies: nothing is read before it is asked for."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.record.table import METADATA_KEY, Table, arrow_schema

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from vramledger.record.document import Origin

BATCH: int = 16_384  # rows


@frozen
class TableOnDisk:
    """One Parquet file of a run; `names` are its columns, ours first, then any others."""

    path: Path
    table: Table
    rows: int
    names: tuple[str, ...]

    def batches(
        self, columns: Sequence[str] | None = None, rows: int = BATCH
    ) -> Iterator["pa.RecordBatch"]:
        """The rows in order, in batches of up to `rows`; all columns unless some are named.

        Raises:
            BadInput: a column is not there, or the file is damaged.
        """
        import pyarrow.parquet as pq

        wanted = self._known(columns)
        with _readable(self.path), pq.ParquetFile(self.path) as file:
            for batch in file.iter_batches(batch_size=rows, columns=wanted):
                yield batch.select(wanted)

    def read(self, columns: Sequence[str] | None = None) -> "pa.Table":
        """The whole table, or the named columns of it, in memory.

        Raises:
            BadInput: as `batches`.
        """
        import pyarrow.parquet as pq

        wanted = self._known(columns)
        with _readable(self.path):
            return pq.read_table(self.path, columns=wanted, partitioning=None).select(wanted)

    def numbers(self, *columns: str) -> dict[str, "np.ndarray[Any, np.dtype[np.float64]]"]:
        """Named columns of numbers as float64, null as NaN.

        Raises:
            BadInput: as `batches`.
        """
        import numpy as np
        import pyarrow as pa

        found = self.read(columns)
        return {
            name: np.asarray(found[name].cast(pa.float64(), safe=False).to_numpy())
            for name in columns
        }

    def _known(self, columns: Sequence[str] | None) -> list[str]:
        missing = [name for name in columns or () if name not in self.names]
        if missing:
            raise BadInput(
                f"{self.path} has no column {', '.join(missing)}; it has {', '.join(self.names)}."
            )
        return list(self.names if columns is None else columns)


def open_table(folder: Path, table: Table, origin: "Origin") -> TableOnDisk:
    """Check a table's head: it is ours, of that origin, and has every column.

    Raises:
        BadInput: it is not, or it cannot be read.
    """
    import pyarrow.parquet as pq

    from vramledger.named_file import opened

    path = folder / table.file
    with opened(path, f"the table {table.name} of a run") as file, _readable(path):
        found = pq.ParquetFile(file.stream)
        schema, rows = found.schema_arrow, found.metadata.num_rows
    _check_metadata(path, table, origin, (schema.metadata or {}).get(METADATA_KEY, b""))
    _check_columns(path, table, schema)
    others = tuple(name for name in schema.names if name not in table.columns)
    return TableOnDisk(path, table, rows, (*table.columns, *others))


def _check_metadata(path: Path, table: Table, origin: "Origin", metadata: bytes) -> None:
    try:
        stated = json.loads(metadata)
        schema, source = stated["schema"], stated["origin"]
    except (ValueError, KeyError, TypeError, RecursionError):
        schema = source = None
    if schema != table.schema_name:
        raise BadInput(
            f"{path} does not say that it follows {table.schema_name!r}; use an unchanged copy of the "
            "run."
        )
    if source != origin.value:
        raise BadInput(
            f"{path} is of origin {source!r}, and its run.json says {origin.value!r}; these files are "
            "not of one run."
        )


def _check_columns(path: Path, table: Table, schema: "pa.Schema") -> None:
    wanted = arrow_schema(table)
    missing = [name for name in wanted.names if name not in schema.names]
    if missing:
        raise BadInput(
            f"{path} lacks the columns {', '.join(missing)}; use an unchanged copy of the run."
        )
    for field in wanted:
        found = schema.field(field.name).type
        if found != field.type:
            raise BadInput(
                f"{path}: the column {field.name} is {found}, and should be {field.type}; use an "
                "unchanged copy of the run."
            )


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise BadInput(
            f"{path} is not a Parquet file, or a damaged one; use an unchanged copy of the run."
        ) from None
