"""Results of a sweep in one Parquet file that grows in segments and is merged at the end."""

import json
import shutil
from collections.abc import Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from vramledger.errors import BadInput
from vramledger.methods.sweep.columns import RESULTS
from vramledger.methods.sweep.point import Point, point_of
from vramledger.methods.sweep.row import Row
from vramledger.record.durable import publish, sync_file
from vramledger.record.table import METADATA_KEY, arrow_schema
from vramledger.written_file import refuse_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

SEGMENT_ROWS: Final = 64
SEGMENT_S: Final = 5.0  # after which a segment is written with what it has
_SCHEMA: Final = "vramledger.sweep-results/1"


class Store:
    """The rows of one base that are known, and the place where new ones go.

    Rows are added one by one, put on disk in segments beside the file, and merged into it by
    `close`. A process that is killed loses at most the rows of the last seconds.

    Raises:
        BadInput: the file is none of a sweep, of another base, or cannot be read or written.
    """

    def __init__(self, path: Path, identity: Mapping[str, str]) -> None:
        refuse_place(path)
        self.path, self._identity = path, dict(identity)
        self._segments = path.with_name(f".{path.name}.segments")
        self.rows: dict[str, Row] = {}
        self._fresh: list[Row] = []
        self._count = 0
        self._flushed = monotonic()
        for file in self._files():
            for row in _read(file, self._identity):
                self.rows[row.columns["point"]] = row

    def add(self, row: Row) -> None:
        """Keep a row."""
        self.rows[row.columns["point"]] = row
        self._fresh.append(row)
        if len(self._fresh) >= SEGMENT_ROWS or monotonic() - self._flushed > SEGMENT_S:
            self.flush()

    def flush(self) -> None:
        """Put on disk what is not there yet."""
        fresh, self._fresh = self._fresh, []
        self._flushed = monotonic()
        if not fresh:
            return
        with _writable(self.path):
            self._segments.mkdir(parents=True, exist_ok=True)
            self._count += 1
            name = f"{fresh[0].columns['point']}-{self._count:06}.parquet"
            _write(self._segments / name, fresh, self._identity)

    def close(self) -> None:
        """Merge all into the file; equal rows, equal bytes, in whatever order they came."""
        self.flush()
        if not self.rows:
            return
        with _writable(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _write(self.path, sorted(self.rows.values(), key=_place), self._identity)
            shutil.rmtree(self._segments, ignore_errors=True)

    def _files(self) -> list[Path]:
        segments = sorted(self._segments.glob("*.parquet")) if self._segments.is_dir() else []
        return [*([self.path] if self.path.exists() else []), *segments]


def _place(row: Row) -> tuple[int, str]:
    return len(row.point.changes), row.point.text


@contextmanager
def _writable(path: Path) -> "Iterator[None]":
    try:
        yield
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written: {error.strerror or error}; choose another -o."
        ) from None


def _write(path: Path, rows: Iterable[Row], identity: Mapping[str, str]) -> None:
    import pyarrow.parquet as pq

    waiting = path.with_name(f".{path.name}.waiting")
    pq.write_table(_table(rows, identity), waiting, compression="zstd")
    sync_file(waiting)
    publish(waiting, path)


def _table(rows: Iterable[Row], identity: Mapping[str, str]) -> "pa.Table":
    import pyarrow as pa

    metadata = json.dumps({"schema": _SCHEMA, "base": identity}, sort_keys=True)
    schema = arrow_schema(RESULTS).with_metadata({METADATA_KEY: metadata.encode()})
    names = schema.names
    listed = [{name: row.columns.get(name) for name in names} for row in rows]
    return pa.Table.from_pylist(listed, schema=schema)


def _read(path: Path, identity: Mapping[str, str]) -> list[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path)
    except (OSError, pa.ArrowInvalid, UnicodeDecodeError):
        raise BadInput(
            f"{path} is no Parquet file that can be read; name the results of a sweep, or a new file."
        ) from None
    _check(path, table, identity)
    return [Row(_point(row["changes"]), row) for row in table.to_pylist()]


def _check(path: Path, table: "pa.Table", identity: Mapping[str, str]) -> None:
    said: Any = json.loads((table.schema.metadata or {}).get(METADATA_KEY, b"{}"))
    if said.get("schema") != _SCHEMA or table.schema.names != arrow_schema(RESULTS).names:
        raise BadInput(
            f"{path} does not hold results of a sweep as this version writes them; choose another -o."
        )
    found = said["base"]
    for name in {**identity, **found}:
        if found.get(name) != identity.get(name):
            raise BadInput(
                f"{path} holds results of another {name} ({found.get(name)}, now {identity.get(name)}); "
                "choose another -o."
            )


def _point(text: str) -> Point:
    return point_of(json.loads(text))
