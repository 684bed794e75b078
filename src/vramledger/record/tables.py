"""The tables of a run's directory, and how records become rows of them."""

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Final, TypeAlias

from vramledger.record.requests import REQUESTS, RequestRecord
from vramledger.record.samples import GPU, SERVER, STEPS, GpuSample, Sample, Step
from vramledger.record.table import Table, arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa

Row: TypeAlias = RequestRecord | Sample | GpuSample | Step

TABLES: Final = (REQUESTS, SERVER, GPU, STEPS)
BY_NAME: Final = {table.name: table for table in TABLES}
ROW_TYPES: Final[dict[type, Table]] = {
    RequestRecord: REQUESTS,
    Sample: SERVER,
    GpuSample: GPU,
    Step: STEPS,
}


def batch_of(table: Table, rows: Sequence[Row]) -> "pa.RecordBatch":
    """Records of one table as a batch of its schema.

    Raises:
        pyarrow.ArrowException: a value does not fit its column.
    """
    import pyarrow as pa

    schema = arrow_schema(table)
    columns = (
        zip(*map(attrgetter(*table.columns), rows), strict=True) if rows else [()] * len(schema)
    )
    return pa.RecordBatch.from_arrays(
        [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)],
        schema=schema,
    )
