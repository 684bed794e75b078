"""Some rows of a workload, in their order: what slice, head and thinning write."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from vramledger.frozen import frozen
from vramledger.workload.operators.columns import (
    Column,
    column,
    nanoseconds,
    narrow,
    numbers_of,
    read,
    seconds,
    with_column,
)
from vramledger.workload.store import read_batches

if TYPE_CHECKING:
    import pyarrow as pa

    from vramledger.workload.operators.columns import Array


@frozen
class Subset:
    """Rows kept of a stored workload."""

    path: Path
    kept: "Array"  # of bool, one a row
    zero_s: float  # arrival of the first request kept, 0 where it has none
    cut_sessions: int  # sessions of which some requests are kept and some are not
    lost_retries: int  # kept requests that repeat one that is not kept

    @property
    def rows(self) -> int:
        return int(self.kept.sum())

    @property
    def notes(self) -> list[str]:
        """What the cut did to sessions and retries."""
        found = []
        if self.cut_sessions:
            found.append(
                f"Sessions cut: {self.cut_sessions:,}; the turns that stay keep their numbers."
            )
        if self.lost_retries:
            found.append(
                f"Retries of a request that is not kept: {self.lost_retries:,}; their retry_of is "
                "null now."
            )
        return found


def subset(path: Path, kept: "Array") -> Subset:
    """The rows of `path` where `kept` is true; at least one must be."""
    return Subset(path, kept, _zero_s(path, kept), _cut_sessions(path, kept), _lost(path, kept))


def _zero_s(path: Path, kept: "Array") -> float:
    """The arrival of the first row kept, 0 where it has none."""
    import numpy as np

    first, place = int(np.argmax(kept)), 0
    for batch in narrow(path, ("arrival_s",)):
        if first < place + len(batch):
            return batch.column(0)[first - place].as_py() or 0.0
        place += len(batch)
    return 0.0


def _cut_sessions(path: Path, kept: "Array") -> int:
    """Sessions of which some rows are kept and some are not."""
    import numpy as np

    session = read(path, "session")
    some, others = np.zeros((2, numbers_of(session)), np.bool_)
    some[session.values[kept & ~session.absent]] = True
    others[session.values[~kept & ~session.absent]] = True
    return int((some & others).sum())


def _lost(path: Path, kept: "Array") -> int:
    """Rows kept that repeat one that is not."""
    retry = read(path, "retry_of")
    return int((~kept[retry.values[kept & ~retry.absent]]).sum())


def batches(chosen: Subset) -> Iterator["pa.RecordBatch"]:
    """Its rows, numbered from 0 and timed from the first; ready for `write_workload(ordered=True)`."""
    import numpy as np
    import pyarrow as pa

    number = np.cumsum(chosen.kept) - 1
    place, end = 0, int(np.flatnonzero(chosen.kept)[-1])
    for batch in read_batches(chosen.path):
        if place > end:
            return
        here = chosen.kept[place : place + len(batch)]
        part = batch.filter(pa.array(here))
        rows = number[place : place + len(batch)][here]
        place += len(batch)
        if not len(part):
            continue
        part = with_column(part, "row", Column(rows, np.zeros(len(rows), np.bool_)))
        retry = column(part, "retry_of")
        absent = retry.absent | ~chosen.kept[retry.values]
        part = with_column(part, "retry_of", Column(number[retry.values], absent))
        yield rebased(part, chosen.zero_s)


def rebased(batch: "pa.RecordBatch", zero_s: float) -> "pa.RecordBatch":
    """The batch with arrivals counted from `zero_s`, in whole nanoseconds."""
    if not zero_s:
        return batch
    arrival = nanoseconds(column(batch, "arrival_s"))
    shifted = Column(arrival.values - round(zero_s * 1e9), arrival.absent)
    return with_column(batch, "arrival_s", seconds(shifted))
