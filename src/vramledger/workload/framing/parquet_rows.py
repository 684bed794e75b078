"""The rows of a Parquet file, read a few thousand at a time."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.workload.formats.format import Record
from vramledger.workload.framing.framed import Row
from vramledger.workload.metadata import SCHEMA
from vramledger.workload.schema import METADATA_KEY

_BATCH: Final = 8192


class ParquetRows:
    """The rows as {column: value}; moments come as ISO 8601 text with all their digits.

    Raises:
        BadInput: a damaged file, or a workload of ours.
    """

    def __init__(self, path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            self._file = pq.ParquetFile(path)
        except (pa.ArrowException, OSError, UnicodeDecodeError):
            raise BadInput(
                f"{path} is a damaged Parquet file; fetch it again, or export it anew."
            ) from None
        if METADATA_KEY in (self._file.schema_arrow.metadata or {}):
            self._file.close()
            raise BadInput(
                f"{path} is a stored workload already ({SCHEMA}); give it to vram workload profile, "
                "or put several together with vram workload merge."
            )
        self.columns = tuple(self._file.schema_arrow.names)
        self.size = self._file.metadata.num_rows
        self.line = 0

    def __iter__(self) -> Iterator[Row]:
        for batch in self._file.iter_batches(batch_size=_BATCH):
            for values in _plain(batch).to_pylist():
                self.line += 1
                yield Record(self.line, values)

    def close(self) -> None:
        self._file.close()


def _plain(batch: Any) -> Any:
    """The batch with moments as text, since Python's have no nanoseconds."""
    import pyarrow as pa

    for place, field in enumerate(batch.schema):
        if pa.types.is_timestamp(field.type):
            text = batch.column(place).cast(pa.string())
            batch = batch.set_column(place, field.name, text)
    return batch
