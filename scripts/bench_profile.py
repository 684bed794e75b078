"""The time of a profile of 20 million requests as a multiple of two sorts by DuckDB, side by side.

The sorts are two copies of the length columns (input and output), one in the order of each, on two
threads: what exact percentiles would cost without counting. For comparison the sorts of each column
by itself are timed too, without a limit. All are timed as whole processes and within one, in turn,
so that a busy machine slows them alike; medians count. Exit 1 when a ratio to the copies or the
memory is over its limit.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from vramledger.workload.metadata import Metadata
from vramledger.workload.schema import arrow_schema
from vramledger.workload.store import write_workload

REQUESTS = 20_000_000
ROUNDS = 5
LIMIT = 2.5
MOST_GIB = 2.0
THREADS = 2

_SORTS = f"""
import duckdb, sys
def sorts(copied):
    with duckdb.connect(config={{"threads": {THREADS}}}) as connection:
        connection.execute("SET enable_progress_bar_print=false")
        for column in ("input_tokens", "output_tokens"):
            connection.execute(
                f"CREATE TABLE {{column}} AS SELECT {{copied or column}} "
                f"FROM read_parquet('{{sys.argv[1]}}') ORDER BY {{column}}"
            )
"""
_COPIES = _SORTS + "sorts('input_tokens, output_tokens')"
_COLUMNS = _SORTS + "sorts('')"
_PROFILE = """
import resource, sys
from pathlib import Path
from vramledger.workload.profile.compute import profile_workload
profile_workload(Path(sys.argv[1]))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


_WITHIN = f"""{_SORTS}
import statistics, time
from pathlib import Path
from vramledger.workload.profile.compute import profile_workload
calls = (
    lambda: sorts("input_tokens, output_tokens"),
    lambda: sorts(""),
    lambda: profile_workload(Path(sys.argv[1])),
)
taken = [[] for _ in calls]
for turn in range({ROUNDS} + 1):
    for call, times in zip(calls, taken):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
print(*(statistics.median(times[1:]) for times in taken))
"""


@dataclass(frozen=True)
class Times:
    """Median seconds of the two sorted copies, of the columns by themselves, and of the profile."""

    copies: float
    columns: float
    profile: float


def make(folder: Path) -> Path:
    """20 million synthetic requests without prefix blocks, like a chat log of an hour with a clock."""
    seed, out = folder / "seed.parquet", folder / "workload.parquet"
    write_seed(seed)
    vram = str(Path(sys.executable).parent / "vram")
    options = ["--requests", str(REQUESTS), "--no-prefix", "--no-compare", "-o", str(out)]
    command = [vram, "workload", "synth", "--like", str(seed), *options]
    subprocess.run(command, check=True, capture_output=True)
    return out


def write_seed(path: Path) -> None:
    """20,000 requests of an hour: lognormal lengths as chat logs have them, Poisson arrivals."""
    draw, rows = np.random.default_rng(1), 20_000
    columns = {
        "row": np.arange(rows),
        "arrival_s": np.sort(draw.uniform(0, 3600, rows)),
        "input_tokens": np.minimum(draw.lognormal(7, 1.1, rows), 130_000).astype(np.int32),
        "output_tokens": np.minimum(draw.lognormal(4.8, 1.2, rows), 8000).astype(np.int32),
        "outcome": np.where(draw.uniform(size=rows) < 0.02, "failed", "ok"),
    }
    arrays = [
        pa.array(columns[field.name], field.type)
        if field.name in columns
        else pa.nulls(rows, field.type)
        for field in arrow_schema()
    ]
    batch = pa.RecordBatch.from_arrays(arrays, schema=arrow_schema())
    write_workload([batch], Metadata(week_offset_s=0), path)


def whole_process(code: str, path: Path) -> tuple[float, str]:
    """Seconds of a process, and what it printed."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True
    )
    return time.perf_counter() - start, done.stdout


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="vram-bench-") as folder:
        path = make(Path(folder))
        taken: list[list[float]] = [[], [], []]
        memory = 0
        for _ in range(ROUNDS):
            for code, times in zip((_COPIES, _COLUMNS, _PROFILE), taken, strict=True):
                seconds, printed = whole_process(code, path)
                times.append(seconds)
            memory = max(memory, int(printed))
        within = [float(each) for each in whole_process(_WITHIN, path)[1].split()]
    return report(
        {
            "whole processes": Times(*(statistics.median(times) for times in taken)),
            "in one process": Times(*within),
        },
        memory / 2**20,
    )


def report(found: dict[str, Times], memory_gib: float) -> int:
    """Print the ratios; 1 where one is over its limit."""
    print(f"Profile of {REQUESTS:,} requests; load average {os.getloadavg()[0]:.1f}.")
    over = memory_gib > MOST_GIB
    for name, times in found.items():
        ratio = times.profile / times.copies
        over = over or ratio > LIMIT
        verdict = f"limit {LIMIT:g}x" if ratio <= LIMIT else f"OVER the limit {LIMIT:g}x"
        print(
            f"{name:16} profile {times.profile:6.2f} s, two sorted copies {times.copies:6.2f} s: "
            f"{ratio:5.2f}x, {verdict}; each column by itself {times.columns:6.2f} s: "
            f"{times.profile / times.columns:5.2f}x"
        )
    print(f"{'memory':16} {memory_gib:6.2f} GiB, limit {MOST_GIB:g} GiB")
    return int(over)


if __name__ == "__main__":
    sys.exit(main())
