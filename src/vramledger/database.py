"""The one door to DuckDB: bounded memory, silent, and spilling where it is told to.

DuckDB prints a progress bar of its own to standard output once a query takes long, even where that is
no terminal; it would stand among what a verb prints.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import duckdb

MEMORY: Final = "1GB"  # beyond it DuckDB spills


def connected(spill: Path | None = None) -> "duckdb.DuckDBPyConnection":
    """A connection to an empty database in memory; close it when done.

    Args:
        spill: folder for what does not fit the memory; DuckDB's own choice where None.
    """
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {"memory_limit": MEMORY}
    if spill is not None:
        config["temp_directory"] = str(spill)
    connection = duckdb.connect(config=config)
    connection.execute("SET enable_progress_bar_print=false")
    return connection
