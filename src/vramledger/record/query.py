"""Many runs as one database: DuckDB reads their Parquet files where they lie."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from vramledger.database import connected
from vramledger.record.latency import LATENCIES
from vramledger.record.run import Run
from vramledger.record.tables import TABLES

if TYPE_CHECKING:
    import duckdb

_LATENCIES: Final = ", ".join(f"{each.formula} AS {each.name}" for each in LATENCIES)


def connect(runs: Iterable[Run]) -> "duckdb.DuckDBPyConnection":
    """A connection with the views requests, server, gpu, steps and latencies over all runs.

    Each view has the columns of its table, those that any of the runs has beside them, and `run`, the
    folder's name. `latencies` has request_id, run, outcome and one column a latency. A table that no
    run has is no view. Close the connection when done.
    """
    connection = connected()
    opened = tuple(runs)
    for table in TABLES:
        paths = [str(run.tables[table.name].path) for run in opened if table.name in run.tables]
        if paths:
            found = connection.read_parquet(paths, union_by_name=True, filename=True)
            found.project(
                "* EXCLUDE (filename), parse_filename(parse_path(filename)[-2]) AS run"
            ).create_view(table.name)
    if opened:
        connection.view("requests").project(f"request_id, run, outcome, {_LATENCIES}").create_view(
            "latencies"
        )
    return connection
