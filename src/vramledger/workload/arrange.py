"""Rows in the order they were read become a workload: placed in time, turns numbered, in order."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from vramledger.database import connected
from vramledger.frozen import frozen
from vramledger.workload.attempts import (
    RETRIED_TURNS,
    TURNS,
    drop_lone_links,
    first_attempts,
)
from vramledger.workload.schema import arrow_schema
from vramledger.workload.spool import NO_TIME, Spool, spool_schema
from vramledger.workload.store import ROW_GROUP

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    Nanoseconds: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

_PLACED: Final = """
    SELECT *, row_number() OVER (ORDER BY arrival_ns NULLS LAST, row) - 1 AS place FROM spool
"""
_STORED: Final = """
    SELECT placed.place AS row, placed.arrival_ns::DOUBLE / 1e9 AS arrival_s,
        placed.input_tokens, placed.output_tokens, placed.thinking_tokens, placed.cached_tokens,
        placed.max_output_tokens, placed.duration_ns::DOUBLE / 1e9 AS duration_s,
        placed.first_token_ns::DOUBLE / 1e9 AS first_token_s, placed.prefix_blocks, placed.session,
        placed.turn, placed.think_ns::DOUBLE / 1e9 AS think_s, placed.outcome,
        placed.cancel_after_ns::DOUBLE / 1e9 AS cancel_after_s, {before} AS retry_of,
        placed.images, placed.audio_ns::DOUBLE / 1e9 AS audio_s, models.label AS model, placed.tenant
    FROM {rows} placed LEFT JOIN models ON placed.model = models.number {join}
    ORDER BY placed.place
"""


@frozen
class Arrangement:
    """What the rows of a spool become.

    `arrivals` are nanoseconds since the first arrival, in the order of the spool, `NO_TIME` where
    unknown; `labels` name the models by number; `change` is applied to every batch of the spool.
    """

    arrivals: "Nanoseconds"
    labels: Sequence[str]
    sessions: bool  # whether any row has one
    retries: bool  # whether any row is one
    links: Sequence[int] = ()  # sessions that are none where one call alone has them
    change: "Callable[[pa.RecordBatch], pa.RecordBatch]" = lambda batch: batch


class Rows:
    """The rows in order: by arrival, then by the order of reading."""

    def __init__(self, connection: Any, arrangement: Arrangement) -> None:
        self._connection, self._arrangement = connection, arrangement

    def batches(self) -> "Iterator[pa.RecordBatch]":
        """Batches of the workload's schema, numbered from 0.

        Times are seconds: the whole nanoseconds divided by 1e9, correctly rounded.
        """
        schema = arrow_schema()
        found = self._connection.sql(_query(self._arrangement)).to_arrow_reader(ROW_GROUP)
        return (batch.cast(schema) for batch in found)

    def first_appearance(self, column: str) -> list[int]:
        """The values of a column that are not null, by first appearance."""
        query = (
            f"WITH placed AS ({_PLACED}) SELECT {column} FROM placed "  # noqa: S608 - our own names
            f"WHERE {column} IS NOT NULL GROUP BY {column} ORDER BY min(place)"
        )
        return [value for (value,) in self._connection.sql(query).fetchall()]


@contextmanager
def arranged(spool: Spool, arrangement: Arrangement, scratch: Path) -> Iterator[Rows]:
    """The rows of a closed spool, arranged out of core beside the output."""
    import pyarrow as pa

    connection = connected(scratch / "sort")
    try:
        reader = pa.RecordBatchReader.from_batches(spool_schema(), _timed(spool, arrangement))
        connection.register("reader", reader)
        connection.execute("CREATE TEMP TABLE spool AS SELECT * FROM reader")
        drop_lone_links(connection, arrangement.links)
        if arrangement.sessions and arrangement.retries:
            retries = connection.sql("SELECT row, retry_of FROM spool WHERE retry_of IS NOT NULL")
            connection.register("firsts", first_attempts(retries.to_arrow_table()))
        connection.register("models", _models(arrangement.labels))
        yield Rows(connection, arrangement)
    finally:
        connection.close()


def _query(arrangement: Arrangement) -> str:
    start = f"WITH placed AS ({_PLACED})"
    if arrangement.sessions and arrangement.retries:
        start += f", counted AS ({TURNS}), turned AS ({RETRIED_TURNS})"
    elif arrangement.sessions:
        start += f", turned AS ({TURNS})"
    join = "LEFT JOIN placed earlier ON placed.retry_of = earlier.row"
    return start + _STORED.format(
        rows="turned" if arrangement.sessions else "placed",
        before="earlier.place" if arrangement.retries else "NULL",
        join=join if arrangement.retries else "",
    )


def _timed(spool: Spool, arrangement: Arrangement) -> "Iterator[pa.RecordBatch]":
    """The spool's batches with their arrivals in place."""
    import pyarrow as pa

    index = spool_schema().get_field_index("arrival_ns")
    done = 0
    for batch in spool.batches():
        part = arrangement.arrivals[done : done + len(batch)]
        done += len(batch)
        column = pa.array(part, pa.int64(), mask=part == NO_TIME)
        yield arrangement.change(batch.set_column(index, spool_schema().field(index), column))


def _models(labels: Sequence[str]) -> "pa.Table":
    import pyarrow as pa

    return pa.table(
        {
            "number": pa.array(range(len(labels)), pa.int32()),
            "label": pa.array(labels, pa.string()),
        }
    )
