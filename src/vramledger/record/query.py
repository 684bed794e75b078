"""Many runs as one database: DuckDB reads their Parquet files where they lie."""

import glob
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from vramledger.database import connected
from vramledger.record.latency import LATENCIES
from vramledger.record.run import Run
from vramledger.record.tables import TABLES

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_LATENCIES: Final = ", ".join(f"{each.formula} AS {each.name}" for each in LATENCIES)
_ABOUT: Final = [
    "run",
    "origin",
    "name",
    "scenario",
    "seed",
    "ended",
    "engine",
    "engine_version",
    "model",
]


def connect(runs: Sequence[Run]) -> "duckdb.DuckDBPyConnection":
    """A connection with the views requests, server, gpu, steps, latencies and runs.

    Each table's view has its columns, those that any of the runs has beside them, and `run`, the
    path of the run's folder. `latencies` has request_id, run, outcome and one column a latency; `runs`
    has a row a run: its path, origin, name, scenario, seed, how it ended, and of its deployment in
    effect (else asked for) the engine, its version and the model. A table that no run has is no view.
    Close the connection when done.
    """
    connection = connected()
    for table in TABLES:
        paths = [str(run.tables[table.name].path) for run in runs if table.name in run.tables]
        if paths:
            found = connection.read_parquet(
                [glob.escape(path) for path in paths],
                union_by_name=True,
                filename=True,
                hive_partitioning=False,
            )
            found.project("* EXCLUDE (filename), parse_dirpath(filename) AS run").create_view(
                table.name
            )
    if runs:
        chosen = f"request_id, run, outcome, {_LATENCIES}"
        connection.view("requests").project(chosen).create_view("latencies")
    connection.register("runs", _descriptions(runs))
    return connection


def _descriptions(runs: Sequence[Run]) -> "pa.Table":
    import pyarrow as pa

    rows = []
    for run in runs:
        about = run.description
        known = about.asked.model_dump() | about.in_effect.model_dump(exclude_none=True)
        rows.append(
            known | about.model_dump(mode="json", include=set(_ABOUT)) | {"run": str(run.path)}
        )
    kinds = [(name, pa.int64() if name == "seed" else pa.string()) for name in _ABOUT]
    return pa.Table.from_pylist(rows, pa.schema(kinds))
