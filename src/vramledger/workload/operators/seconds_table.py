"""The per-second table of a stored workload, as scenarios are found by."""

from pathlib import Path
from typing import TYPE_CHECKING

from vramledger.workload.operators.columns import read
from vramledger.workload.scenarios import Seconds, long_input

if TYPE_CHECKING:
    from vramledger.workload.operators.columns import Array


def seconds_of(path: Path, kept: "Array") -> Seconds | None:
    """What arrived in each second, of the rows kept; None where none of them has a time.

    Seconds count from the first arrival of the workload, not of the rows kept.
    """
    import numpy as np

    arrival = read(path, "arrival_s")
    inputs, outputs = read(path, "input_tokens"), read(path, "output_tokens")
    long_tokens = np.where(_long(inputs.values, kept & ~inputs.absent), inputs.values, 0)
    timed = kept & ~arrival.absent
    if not timed.any():
        return None
    of_row = np.floor(arrival.values[timed]).astype(np.int64)
    second, first, requests = np.unique(of_row, return_index=True, return_counts=True)
    tokens = (inputs.values + outputs.values)[timed]
    return Seconds(
        second=second,
        requests=requests.astype(np.int64),
        tokens=np.add.reduceat(tokens, first),
        long_tokens=np.add.reduceat(long_tokens[timed], first),
    )


def _long(inputs: "Array", known: "Array") -> "Array":
    """Which rows have an input above the 95th percentile."""
    import numpy as np

    if not known.any():
        return known
    lengths, requests = np.unique(inputs[known], return_counts=True)
    above: Array = known & (inputs > long_input(lengths, requests))
    return above
