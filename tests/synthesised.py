"""Synthetic workloads for tests: profiles of rows, and rows of batches."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from stored_workloads import BLOCK, request, stored
from vramledger.workload.metadata import Metadata
from vramledger.workload.profile.compute import profile_workload
from vramledger.workload.profile.profile import Profile
from vramledger.workload.store import write_workload

Numbers = Any


def table(batches: Iterable[pa.RecordBatch]) -> pa.Table:
    return pa.Table.from_batches(list(batches))


def numbers(batches: pa.Table, name: str) -> Numbers:
    return batches[name].to_numpy()


def profile_of(requests: list[dict[str, Any]], folder: Path, **metadata: Any) -> Profile:
    return profile_workload(stored(folder / "source.parquet", requests, **metadata))


def profile_of_batches(batches: Iterable[pa.RecordBatch], folder: Path) -> Profile:
    path = folder / "made.parquet"
    write_workload(batches, Metadata(block_tokens=BLOCK), path, ordered=True)
    return profile_workload(path)


def plain(count: int, seed: int, *, cap: int = 3000, span_s: float = 1800) -> list[dict[str, Any]]:
    """Requests of log-normal lengths, inputs cut at a cap, outputs longer where inputs are."""
    rng = np.random.default_rng(seed)
    inputs = np.minimum(np.exp(rng.normal(6.5, 1.2, count)).astype(int) + 1, cap)
    outputs = (np.exp(rng.normal(4, 0.7, count)) * (1 + inputs / 500)).astype(int) + 1
    times = np.sort(rng.random(count)) * span_s
    times -= times[0]
    return [
        request(row, arrival_s=float(t), input_tokens=int(i), output_tokens=int(o))
        for row, (t, i, o) in enumerate(zip(times, inputs, outputs, strict=True))
    ]
