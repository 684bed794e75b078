"""Rows on their way: the columns of the workload with whole nanoseconds, in the order of reading."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

_BATCH: Final = 65_536
NO_TIME: Final = -(1 << 63)  # stands for "no arrival" in arrays of nanoseconds
COLUMNS: Final = {
    "row": "int64",  # unique, growing with the order of reading
    "arrival_ns": "int64",
    "input_tokens": "int32",
    "output_tokens": "int32",
    "thinking_tokens": "int32",
    "cached_tokens": "int32",
    "max_output_tokens": "int32",
    "duration_ns": "int64",
    "first_token_ns": "int64",
    "prefix_blocks": "list<int32>",
    "session": "int32",
    "turn": "int32",
    "think_ns": "int64",
    "outcome": "string",
    "cancel_after_ns": "int64",
    "retry_of": "int64",  # a `row`
    "images": "int32",
    "audio_ns": "int64",
    "model": "int32",
    "tenant": "int32",
}


@cache
def spool_schema() -> "pa.Schema":
    """`COLUMNS` as an Arrow schema."""
    import pyarrow as pa

    kinds = {
        "int64": pa.int64(),
        "int32": pa.int32(),
        "string": pa.string(),
        "list<int32>": pa.list_(pa.int32()),
    }
    return pa.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])


class Spool:
    """A file of rows, written once and then read. It holds numbers alone: no identity, no date."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._rows: list[tuple[Any, ...]] = []
        self.count = 0

    def __enter__(self) -> Self:
        import pyarrow as pa

        self._sink = pa.OSFile(str(self._path), "wb")
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        self._writer = pa.ipc.new_stream(self._sink, spool_schema(), options=options)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, row: tuple[Any, ...]) -> None:
        """Add a row, its values in the order of `COLUMNS`."""
        self._rows.append(row)
        self.count += 1
        if len(self._rows) == _BATCH:
            self._flush()

    def close(self) -> None:
        """All rows are in the file."""
        self._flush()
        self._writer.close()
        self._sink.close()

    def batches(self) -> "Iterator[pa.RecordBatch]":
        """The rows of a closed spool."""
        import pyarrow as pa

        with pa.OSFile(str(self._path)) as source, pa.ipc.open_stream(source) as reader:
            yield from reader

    def _flush(self) -> None:
        import pyarrow as pa

        if not self._rows:
            return
        columns = zip(*self._rows, strict=True)
        schema = spool_schema()
        arrays = [
            pa.array(values, kind) for values, kind in zip(columns, schema.types, strict=True)
        ]
        self._writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
        self._rows.clear()
