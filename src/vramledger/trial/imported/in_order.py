"""Requests put in the order of a run's table, whatever order they came in, with little of them in memory.

Their moments decide beforehand into which part of the time each belongs, parts being equally large; each part is sorted by itself.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.record.document import Origin, StoredTable
from vramledger.record.parquet import TableFile
from vramledger.record.requests import REQUESTS
from vramledger.record.segments import Segment, segments, whole_batches
from vramledger.record.table import arrow_schema

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    Floats = np.ndarray[Any, np.dtype[np.float64]]

_PART_BYTES: Final = 1 << 25
_ROW_BYTES: Final = 300
_CHUNK_BYTES: Final = 12
_WRITER: Final = "import"
_MOMENTS: Final = (
    "due_s", "dispatched_s", "headers_s", "first_byte_s", "first_role_s", "first_content_s", "first_answer_s", "last_content_s",
    "done_s",
)  # fmt: skip


@frozen
class Arrivals:
    """When each request was due, in seconds, in the order of the file, and how many chunks it has."""

    due_s: "Floats"
    chunks: "Floats"

    @property
    def begun_s(self) -> float:
        """When the first one was; 0 where there is none."""
        return float(self.due_s.min()) if len(self.due_s) else 0.0

    def parts(self) -> "Floats":
        """The last moments of all parts but the last, rising."""
        import numpy as np

        order = np.argsort(self.due_s, kind="stable")
        filled = np.cumsum(_ROW_BYTES + _CHUNK_BYTES * self.chunks[order]) // _PART_BYTES
        ends = np.flatnonzero(np.diff(filled) > 0)
        return np.unique(self.due_s[order][ends])


def write_in_order(source: Path, folder: Path, arrivals: Arrivals) -> StoredTable:
    """The segments of requests in `source` as the table of a run in `folder`, moments counted from the first one due; `source` takes more of them.

    Raises:
        OSError: it cannot be written.
    """
    ends = arrivals.parts()
    places = [source / f"part-{number}" for number in range(len(ends) + 1)]
    _share_out(source, places, ends, arrivals.begun_s)
    with TableFile(folder, REQUESTS, Origin.IMPORTED) as file:
        for place in places:
            for batch in _sorted(place):
                file.add_batch(batch)
        return file.finish()


def _share_out(source: Path, places: list[Path], ends: "Floats", begun_s: float) -> None:
    """Every request into the segment of its part."""
    import numpy as np
    import pyarrow as pa

    with ExitStack() as stack:
        parts = []
        for place in places:
            place.mkdir()
            parts.append(Segment(place, REQUESTS, REQUESTS.name, _WRITER))
            stack.callback(parts[-1].abandon)
        for batch in whole_batches(REQUESTS, segments(source, REQUESTS.name)):
            numbers = np.searchsorted(ends, batch.column("due_s").to_numpy(), side="left")
            moved = _moved(batch, begun_s)
            for number in np.unique(numbers):
                parts[number].add_batch(moved.filter(pa.array(numbers == number)))
        for part in parts:
            part.close()


def _sorted(place: Path) -> Iterator["pa.RecordBatch"]:
    import pyarrow as pa

    batches = list(whole_batches(REQUESTS, segments(place, REQUESTS.name)))
    if batches:
        table = pa.Table.from_batches(batches)
        order = [(name, "ascending") for name in REQUESTS.order]
        yield from table.sort_by(order).cast(arrow_schema(REQUESTS)).to_batches()


def _moved(batch: "pa.RecordBatch", begun_s: float) -> "pa.RecordBatch":
    """The same with every moment counted from the first."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = [
        pc.subtract(column, begun_s) if name in _MOMENTS else column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)
