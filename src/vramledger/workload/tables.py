"""Tables of requests where they lie: a stored workload in DuckDB or Spark, any table by its URL."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from vramledger.errors import UnknownName
from vramledger.frozen import frozen
from vramledger.workload.metadata import Metadata
from vramledger.workload.schema import COLUMNS
from vramledger.workload.store import read_metadata

_ALWAYS: Final = {"row", "outcome"}  # columns that no workload has null
_MEMORY: Final = "1GB"
_DIRECT_BITS: Final = 23  # groups up to 2^23 whole numbers wide are counted in an array


@frozen
class Requests:
    """A table of requests that an engine can be asked about.

    `table` is an Ibis table with the columns of `schema.COLUMNS` that hold anything, by name.
    """

    table: Any
    held: frozenset[str]
    metadata: Metadata


@contextmanager
def opened(path: Path, engine: str = "duckdb") -> Iterator[Requests]:
    """A stored workload, to be asked through an engine of `ENGINES`.

    Raises:
        BadInput: no stored workload.
        UnknownName: no such engine.
    """
    if engine not in ENGINES:
        raise UnknownName("engine", engine, ENGINES)
    metadata = read_metadata(path).metadata
    held = held_columns(path) | _ALWAYS
    with ENGINES[engine](path) as table:
        yield Requests(table.select(*(name for name in COLUMNS if name in held)), held, metadata)


def held_columns(path: Path) -> frozenset[str]:
    """The columns that hold anything, by the statistics in the file; a column without them counts."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as found:
        footer = found.metadata
        names = [
            footer.schema.column(place).path.split(".")[0] for place in range(footer.num_columns)
        ]
        groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
        return frozenset(
            name
            for place, name in enumerate(names)
            if name in COLUMNS and any(_holds(group.column(place)) for group in groups)
        )


def _holds(chunk: Any) -> bool:
    statistics = chunk.statistics
    if statistics is None or not statistics.has_null_count:
        return True
    return bool(statistics.null_count < chunk.num_values)


@contextmanager
def _duckdb(path: Path) -> Iterator[Any]:
    import ibis

    connection = ibis.duckdb.connect(memory_limit=_MEMORY)
    try:
        connection.raw_sql(f"SET perfect_ht_threshold={_DIRECT_BITS}")
        yield connection.read_parquet(path)
    finally:
        connection.disconnect()


ENGINES: Final = {"duckdb": _duckdb}
