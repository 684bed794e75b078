"""The stored workload: one Parquet file in canonical form.

Canonical: rows by arrival (then by the order they were given in), numbered from 0; sessions, tenants,
prefix blocks and model labels numbered by first appearance in that order. Equal requests therefore
give equal bytes, whatever their identities were and in whatever order they were read.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.database import connected
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.workload.metadata import Metadata, from_json
from vramledger.workload.renumber import Renumbering
from vramledger.workload.schema import COLUMNS, METADATA_KEY, arrow_schema
from vramledger.workload.soundness import check_stored
from vramledger.written_file import refuse_place

if TYPE_CHECKING:
    import pyarrow as pa

ROW_GROUP: Final = 131_072  # rows; a column of a group is a megabyte
_ORDERED: Final = """
    SELECT * REPLACE (
        CAST(row_number() OVER (ORDER BY arrival_s NULLS LAST, row) - 1 AS BIGINT) AS row
    ) FROM read_parquet($spool) ORDER BY arrival_s NULLS LAST, row
"""
_ORDERED_RETRIES: Final = """
    WITH numbered AS (
        SELECT *, row_number() OVER (ORDER BY arrival_s NULLS LAST, row) - 1 AS place
        FROM read_parquet($spool)
    )
    SELECT n.* EXCLUDE (place) REPLACE (
        CAST(n.place AS BIGINT) AS row, CAST(first.place AS INTEGER) AS retry_of
    )
    FROM numbered n LEFT JOIN numbered first ON n.retry_of = first.row
    ORDER BY n.place
"""


@frozen
class Stored:
    """A workload on disk."""

    path: Path
    rows: int
    metadata: Metadata


def write_workload(
    batches: Iterable["pa.RecordBatch"],
    metadata: Metadata,
    path: Path,
    *,
    ordered: bool = False,
    progress: Callable[[int], None] = lambda _rows: None,
) -> Stored:
    """Write batches of `arrow_schema` as a canonical workload; the file appears whole or not at all.

    `row` in the batches must be unique (int64); `retry_of` refers to it. `ordered` promises rows by
    arrival with `row` counting from 0, and saves the sort. `progress` gets the rows written so far.

    Raises:
        BadInput: the path cannot be written.
    """
    refuse_place(path)
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".workload-") as scratch:
            with ExitStack() as stack:
                if not ordered:
                    batches = stack.enter_context(_Sorted(batches, Path(scratch)))
                whole = Path(scratch) / "workload.parquet"
                rows = _write(Renumbering().applied(batches), metadata, whole, progress)
            whole.replace(path)
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written: {error.strerror or error}; choose another -o."
        ) from None
    return Stored(path, rows, metadata)


def read_metadata(path: Path) -> Stored:
    """What a stored workload says of itself.

    Raises:
        BadInput: not a file that can be read, not Parquet, or not a workload of ours.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from vramledger.named_file import opened

    with opened(path, "a stored workload") as file:
        try:
            found = pq.ParquetFile(file.stream)
            metadata, rows = found.schema_arrow.metadata or {}, found.metadata.num_rows
        except (pa.ArrowException, OSError, UnicodeDecodeError):
            raise BadInput(
                f"{path} is not a Parquet file, or a damaged one; `vram workload import` makes "
                "workloads of logs."
            ) from None
        if METADATA_KEY not in metadata:
            raise BadInput(
                f"{path} is a Parquet file, but no workload of ours; import it with `vram workload "
                "import --map arrival=COLUMN,input=COLUMN,output=COLUMN`."
            )
        said = from_json(metadata[METADATA_KEY], str(path))
        check_stored(path, found)
    return Stored(path, rows, said)


def read_batches(
    path: Path, columns: Sequence[str] = tuple(COLUMNS), at_once: int = ROW_GROUP
) -> Iterator["pa.RecordBatch"]:
    """The rows of a stored workload, in order, in batches of up to `at_once`.

    Raises:
        BadInput: its pages are damaged, or a time in it is no finite number.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as found:
            for batch in found.iter_batches(batch_size=at_once, columns=list(columns)):
                _check_finite(batch, path)
                yield batch
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        raise damaged(path) from None


def damaged(path: Path) -> BadInput:
    """What to say of a stored workload whose rows cannot be read."""
    return BadInput(
        f"{path} is damaged, or holds numbers that no workload has; fetch it again, or import the "
        "logs again."
    )


def _check_finite(batch: "pa.RecordBatch", path: Path) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    for column in batch.columns:
        if pa.types.is_floating(column.type) and pc.all(pc.is_finite(column)).as_py() is False:
            raise damaged(path)


class _Sorted:
    """Batches in the canonical order, sorted out of core."""

    def __init__(self, batches: Iterable["pa.RecordBatch"], scratch: Path) -> None:
        self._batches, self._scratch = batches, scratch

    def __enter__(self) -> Iterator["pa.RecordBatch"]:
        spool = self._scratch / "spool.parquet"
        retries = _spool(self._batches, spool)
        self._connection = connected(self._scratch / "sort")
        query = _ORDERED_RETRIES if retries else _ORDERED
        schema = arrow_schema()
        found = self._connection.sql(query, params={"spool": str(spool)})
        reader: pa.RecordBatchReader = found.to_arrow_reader(ROW_GROUP)
        return (batch.cast(schema) for batch in reader)

    def __exit__(self, *_: object) -> None:
        self._connection.close()


def _spool(batches: Iterable["pa.RecordBatch"], path: Path) -> bool:
    """Put batches on disk as they come; whether any of them holds retries."""
    import pyarrow.parquet as pq

    retries = False
    with pq.ParquetWriter(path, arrow_schema(), compression="zstd", compression_level=1) as writer:
        for batch in batches:
            writer.write_batch(batch, row_group_size=ROW_GROUP)
            column: Any = batch.column("retry_of")
            retries = retries or column.null_count < len(column)
    return retries


def _write(
    batches: Iterable["pa.RecordBatch"],
    metadata: Metadata,
    path: Path,
    progress: Callable[[int], None],
) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = arrow_schema().with_metadata({METADATA_KEY: metadata.to_json().encode()})
    rows = 0
    with pq.ParquetWriter(path, schema, compression="zstd", write_page_index=True) as writer:
        for group in _regrouped(batches):
            writer.write_table(pa.Table.from_batches(group, arrow_schema()).cast(schema))
            rows += sum(len(batch) for batch in group)
            progress(rows)
    return rows


def _regrouped(batches: Iterable["pa.RecordBatch"]) -> Iterator[list["pa.RecordBatch"]]:
    """Lists of batches of exactly `ROW_GROUP` rows together, so that bytes do not depend on cuts."""
    held: list[pa.RecordBatch] = []
    room = ROW_GROUP
    for whole in batches:
        batch = whole
        while len(batch) >= room:
            held.append(batch.slice(0, room))
            yield held
            batch, held, room = batch.slice(room), [], ROW_GROUP
        if len(batch):
            held.append(batch)
            room -= len(batch)
    if held:
        yield held
