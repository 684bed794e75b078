"""Tables of requests that an engine can be asked about, and stored workloads as such tables."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from vramledger.database import connected
from vramledger.errors import UnknownName
from vramledger.frozen import frozen
from vramledger.workload.metadata import Metadata
from vramledger.workload.schema import COLUMNS, arrow_schema
from vramledger.workload.store import damaged, read_metadata

if TYPE_CHECKING:
    import pyarrow as pa

Fetch: TypeAlias = Callable[[Any], "pa.Table"]

_ALWAYS: Final = {"row", "outcome"}  # columns that no workload has null
_DIRECT_BITS: Final = 23  # groups up to 2^23 whole numbers wide are counted in an array


def by_ibis(question: Any) -> "pa.Table":
    """The answer to an Ibis expression."""
    return question.to_pyarrow()


@frozen
class Engine:
    """A table in an engine; `fetch` answers Ibis expressions over it."""

    table: Any
    fetch: Fetch = by_ibis


@frozen
class Requests:
    """A table of requests that an engine can be asked about.

    `table` is an Ibis table with those of `schema.COLUMNS` that hold anything, by name.
    """

    table: Any
    held: frozenset[str]
    metadata: Metadata
    fetch: Fetch = by_ibis
    keep_models: bool = True  # names of models may be shown; else they become model-0, model-1, ...


@contextmanager
def opened(path: Path, engine: str = "duckdb") -> Iterator[Requests]:
    """A stored workload, to be asked through an engine of `ENGINES`.

    Raises:
        BadInput: no stored workload, or an engine that is not installed.
        UnknownName: no such engine.
    """
    if engine not in ENGINES:
        raise UnknownName("engine", engine, ENGINES)
    metadata = read_metadata(path).metadata
    held = held_columns(path) | _ALWAYS
    with ENGINES[engine](path) as found:
        columns = [name for name in COLUMNS if name in held]
        yield Requests(found.table.select(*columns), held, metadata, found.fetch)


def held_columns(path: Path) -> frozenset[str]:
    """The columns that hold anything, by the file's statistics; a column without them counts."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as found:
        footer = found.metadata
        names = [footer.schema.column(place).path for place in range(footer.num_columns)]
        groups = [footer.row_group(number) for number in range(footer.num_row_groups)]
        return frozenset(
            name.split(".")[0]
            for place, name in enumerate(names)
            if any(_holds(group.column(place)) for group in groups)
        )


def _holds(chunk: Any) -> bool:
    statistics = chunk.statistics
    if statistics is None or not statistics.has_null_count:
        return True
    return bool(statistics.null_count < chunk.num_values)


@contextmanager
def _duckdb(path: Path) -> Iterator[Engine]:
    """DuckDB without Ibis' own connection, which takes as long to start as a million rows to count."""
    import duckdb
    import ibis

    of_rows = (duckdb.ConversionException, duckdb.IOException, duckdb.InvalidInputException)
    with TemporaryDirectory(prefix="vram-") as scratch, connected(Path(scratch)) as connection:
        connection.execute(f"SET perfect_ht_threshold={_DIRECT_BITS}")
        connection.execute("SET parquet_metadata_cache=true")  # one footer for all questions
        connection.read_parquet(str(path)).create_view("requests")

        def fetch(question: Any) -> "pa.Table":
            sql = str(ibis.to_sql(question, dialect="duckdb", pretty=False))
            try:
                return connection.sql(sql).to_arrow_table()
            except duckdb.Error as error:
                if isinstance(error, of_rows) or type(error) is duckdb.Error:  # of a damaged page
                    raise damaged(path) from None
                raise

        yield Engine(ibis.table(ibis.Schema.from_pyarrow(arrow_schema()), "requests"), fetch)


@contextmanager
def _spark(path: Path) -> Iterator[Engine]:
    from vramledger.workload.spark import spark

    with spark() as session:
        yield session.read(path)


ENGINES: Final[Mapping[str, Callable[[Path], AbstractContextManager[Engine]]]] = {
    "duckdb": _duckdb,
    "spark": _spark,
}
