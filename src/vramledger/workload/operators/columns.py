"""Columns of batches and of whole workloads as numpy arrays, and back."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from vramledger.frozen import frozen
from vramledger.workload.schema import COLUMNS
from vramledger.workload.store import read_batches

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

NS: Final = 1e9


@frozen
class Column:
    """Values and where there are none; the value there means nothing."""

    values: "Array"
    absent: "Array"  # of bool


def of(array: Any) -> Column:
    """An Arrow array of numbers; whole numbers become int64, others float64."""
    import numpy as np
    import pyarrow as pa

    kind = np.float64 if pa.types.is_floating(array.type) else np.int64
    absent = np.asarray(array.is_null())
    return Column(array.fill_null(0).to_numpy(zero_copy_only=False).astype(kind), absent)


def column(batch: "pa.RecordBatch", name: str) -> Column:
    """A column of numbers of a batch."""
    return of(batch.column(name))


def with_column(batch: "pa.RecordBatch", name: str, found: Column) -> "pa.RecordBatch":
    """The batch with that column in its place, in the type of the schema."""
    import pyarrow as pa

    index = batch.schema.get_field_index(name)
    field = batch.schema.field(index)
    array = pa.array(found.values, mask=found.absent).cast(field.type)
    return batch.set_column(index, field, array)


def read(path: Path, name: str) -> Column:
    """A column of numbers of a whole stored workload: 9 bytes a row of memory."""
    import numpy as np
    import pyarrow.parquet as pq

    rows = pq.read_metadata(path).num_rows
    values, absent = np.zeros(rows, _kind(name)), np.zeros(rows, np.bool_)
    place = 0
    for batch in narrow(path, (name,)):
        here = column(batch, name)
        values[place : place + len(batch)] = here.values
        absent[place : place + len(batch)] = here.absent
        place += len(batch)
    return Column(values, absent)


def _kind(name: str) -> str:
    return "float64" if COLUMNS[name][0] == "float64" else "int64"


def narrow(path: Path, names: Sequence[str]) -> Iterator["pa.RecordBatch"]:
    """The rows of a stored workload with these columns alone."""
    return read_batches(path, names)


def numbers_of(found: Column) -> int:
    """How many numbers from 0 a column of numbers takes: its largest and one; 0 where it is empty."""
    return int(found.values[~found.absent].max(initial=-1)) + 1


def nanoseconds(arrival: Column) -> Column:
    """Seconds as whole nanoseconds (int64), in which shifts leave no rounding behind."""
    import numpy as np

    return Column(np.rint(arrival.values * NS).astype(np.int64), arrival.absent)


def seconds(arrival: Column) -> Column:
    """Whole nanoseconds as seconds."""
    return Column(arrival.values / NS, arrival.absent)
