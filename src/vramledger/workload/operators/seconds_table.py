"""The per-second table of a stored workload, as scenarios are found by."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from vramledger.workload.operators.columns import column, narrow
from vramledger.workload.scenarios import Seconds, long_input

if TYPE_CHECKING:
    import pyarrow as pa

    from vramledger.workload.operators.columns import Array


def seconds_of(path: Path, kept: "Array") -> Seconds | None:
    """What arrived in each second, of the rows kept; None where none of them has a time.

    Seconds count from the first arrival of the workload, not of the rows kept.
    """
    import numpy as np

    bound = _long_input(path, kept)
    parts, place = [], 0
    for batch in narrow(path, ("arrival_s", "input_tokens", "output_tokens")):
        parts.append(_counted(batch, kept[place : place + len(batch)], bound))
        place += len(batch)
    every = np.concatenate(parts) if parts else np.zeros((0, 4), np.int64)
    if not len(every):
        return None
    second, first = np.unique(every[:, 0], return_index=True)
    _, requests, tokens, long_tokens = np.add.reduceat(every, first).T
    return Seconds(second, requests, tokens, long_tokens)


def _counted(batch: "pa.RecordBatch", kept: "Array", bound: int) -> "Array":
    """Rows of second, requests, tokens and long tokens, by ascending second."""
    import numpy as np

    arrival = column(batch, "arrival_s")
    timed = kept & ~arrival.absent
    inputs, outputs = column(batch, "input_tokens").values, column(batch, "output_tokens").values
    of_row = np.floor(arrival.values[timed]).astype(np.int64)
    second, first = np.unique(of_row, return_index=True)
    requests = np.diff(np.append(first, len(of_row)))
    if not len(second):
        return np.zeros((0, 4), np.int64)
    tokens = np.add.reduceat((inputs + outputs)[timed], first)
    long_tokens = np.add.reduceat(np.where(inputs > bound, inputs, 0)[timed], first)
    return np.stack([second, requests, tokens, long_tokens], axis=1)


def _long_input(path: Path, kept: "Array") -> int:
    """What a long input exceeds, 0 where no row kept has an input."""
    import numpy as np

    counts: Counter[int] = Counter()
    place = 0
    for batch in narrow(path, ("input_tokens",)):
        found = column(batch, "input_tokens")
        known = kept[place : place + len(batch)] & ~found.absent
        place += len(batch)
        lengths, requests = np.unique(found.values[known], return_counts=True)
        counts.update(dict(zip(lengths.tolist(), requests.tolist(), strict=True)))
    if not counts:
        return 0
    lengths = np.array(sorted(counts), np.int64)
    return long_input(lengths, np.array([counts[length] for length in lengths.tolist()], np.int64))
