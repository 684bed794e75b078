"""The requests of another tool's benchmark, written as the directory of a run.

They come in the order of the file and by its clock, so they are put down first, then moved to begin at 0 and sorted; however many
they are, a few thousand are in memory.
"""

import shutil
from array import array
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from vramledger.errors import BadInput
from vramledger.record.closing import seal, writable
from vramledger.record.document import Ended, Origin
from vramledger.record.journal import Journal
from vramledger.record.requests import REQUESTS, RequestRecord
from vramledger.record.segments import Segment
from vramledger.record.stored import open_table
from vramledger.record.tables import batch_of
from vramledger.trial.imported.counted import counted
from vramledger.trial.imported.described import describe
from vramledger.trial.imported.held_against import HeldAgainst
from vramledger.trial.imported.in_order import Arrivals, write_in_order
from vramledger.trial.imported.told import Benchmark, Told

_WORK: Final = "as-read"
_WRITER: Final = "import"
_MOST_ROWS: Final = 8_192
_MOST_CHUNKS: Final = 200_000


def write(
    benchmark: Benchmark, files: Mapping[str, str], folder: Path, held: HeldAgainst | None = None
) -> Told:
    """The run, in a folder that is not there; returns what its file told.

    Raises:
        BadInput: a record contradicts itself, the file is damaged, or the folder cannot be written.
    """
    with writable(folder):
        folder.mkdir()
        work = folder / _WORK
        work.mkdir()
        arrivals = _put_down(benchmark, work)
        stored = write_in_order(work, folder, arrivals)
        shutil.rmtree(work)
        found = counted(open_table(folder, REQUESTS, Origin.IMPORTED))
        told = benchmark.told(found, benchmark.base_s + arrivals.begun_s)
        about = describe(told, found, files, held)
        journal = Journal(folder)
        try:
            journal.append(0.0, "phase", name="measured", load_zero_s=0.0, position_s=0.0)
            journal.append(found.ended_s, "phase", name="drained", how="complete")
        finally:
            journal.close()
        seal(folder, about, {REQUESTS.name: stored}, Ended.COMPLETE, about.ended_at)
    return told


def _put_down(benchmark: Benchmark, folder: Path) -> Arrivals:
    """All requests by the file's clock, in its order."""
    import numpy as np

    due, chunks = array("d"), array("d")
    segment = Segment(folder, REQUESTS, REQUESTS.name, _WRITER)
    try:
        for rows in _pieces(benchmark.records()):
            for row in rows:
                _check_order(row, benchmark.name)
                due.append(row.due_s)
                chunks.append(len(row.chunk_offset_us or ()))
            segment.add_batch(batch_of(REQUESTS, rows))
        segment.close()
    finally:
        segment.abandon()
    return Arrivals(np.asarray(due), np.asarray(chunks))


def _pieces(records: Iterator[RequestRecord]) -> Iterator[list[RequestRecord]]:
    """Records in lists that are bounded by their chunks too."""
    rows: list[RequestRecord] = []
    chunks = 0
    for record in records:
        rows.append(record)
        chunks += len(record.chunk_offset_us or ())
        if len(rows) == _MOST_ROWS or chunks > _MOST_CHUNKS:
            yield rows
            rows, chunks = [], 0
    if rows:
        yield rows


def _check_order(row: RequestRecord, tool: str) -> None:
    """Refuse moments that contradict each other."""
    for moments in (
        (row.due_s, row.dispatched_s, row.done_s),
        (row.due_s, row.headers_s, row.first_byte_s, row.first_content_s, row.last_content_s, row.done_s),
        (row.dispatched_s, row.first_content_s),
        (row.first_content_s, row.first_answer_s, row.last_content_s),
    ):  # fmt: skip
        happened = [moment for moment in moments if moment is not None]
        if happened != sorted(happened):
            raise BadInput(
                f"Request {row.request_id} of {tool} has moments out of order (its clock was set, or the file was changed); "
                "use an unchanged copy or run the benchmark again."
            )
