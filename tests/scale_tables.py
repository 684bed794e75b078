"""A stored workload as a table of PostgreSQL."""

from pathlib import Path

from postgres_server import Server
from vramledger.workload.schema import COLUMNS
from vramledger.workload.store import read_batches

_TYPES = {
    "int64": "bigint",
    "int32": "integer",
    "float64": "double precision",
    "list<int32>": "integer[]",
    "string": "text",
}


def load(server: Server, path: Path, name: str) -> None:
    """Copy a stored workload into a table with its own columns."""
    import psycopg  # of an extra that most installations lack

    columns = ", ".join(f"{column} {_TYPES[kind]}" for column, (kind, _) in COLUMNS.items())
    with psycopg.connect(server.dsn) as connection:
        connection.execute(f"CREATE TABLE {name} ({columns})".encode())
        with connection.cursor().copy(f"COPY {name} FROM STDIN".encode()) as copy:
            for batch in read_batches(path):
                for row in batch.to_pylist():
                    copy.write_row([row[column] for column in COLUMNS])
