"""The tables of a run's directory, and how records become rows of them."""

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Final, TypeAlias

from vramledger.record.requests import REQUESTS, RequestRecord
from vramledger.record.samples import (
    GPU,
    SERVER,
    STAGES,
    STEPS,
    GpuSample,
    Sample,
    StageRecord,
    Step,
)
from vramledger.record.table import Table, arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa

Row: TypeAlias = RequestRecord | Sample | GpuSample | Step | StageRecord

TABLES: Final = (REQUESTS, SERVER, GPU, STEPS, STAGES)
BY_NAME: Final = {table.name: table for table in TABLES}
ROW_TYPES: Final[dict[type, Table]] = {
    RequestRecord: REQUESTS,
    Sample: SERVER,
    GpuSample: GPU,
    Step: STEPS,
    StageRecord: STAGES,
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
