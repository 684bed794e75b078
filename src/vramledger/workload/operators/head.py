"""The first requests of a workload."""

from pathlib import Path

from vramledger.workload.operators.change import (
    Change,
    Progress,
    change,
    figures,
    refuse_empty,
    silent,
    towards,
)
from vramledger.workload.operators.subset import batches, subset
from vramledger.workload.operators.week import done
from vramledger.workload.store import read_metadata, write_workload


def head(path: Path, requests: int, out: Path, progress: Progress = silent) -> Change:
    """Write the first `requests` of a workload (1 or more), or all where it has fewer.

    Raises:
        BadInput: no workload, an empty one, or `out` cannot be written.
    """
    import numpy as np

    source = read_metadata(path)
    refuse_empty(source.rows, f"{path} holds no request.")
    chosen = subset(path, np.arange(source.rows) < requests)
    notes = chosen.notes
    if source.rows < requests:
        notes.append(f"The workload has only {source.rows:,} requests; all of them are kept.")
    metadata = done(source.metadata, f"head: the first {requests} requests")
    before = figures(path)
    stored = write_workload(
        batches(chosen), metadata, out, ordered=True, progress=towards(chosen.rows, progress)
    )
    return change("head", (before,), stored, notes)
