"""A run as arrays: what its overview is made of, whether it was simulated a moment ago or lies on disk."""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen
from vramledger.record.latency import BY_NAME, with_failures
from vramledger.record.samples import STEPS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from vramledger.record.run import Run

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

LATENCIES: Final = ("ttft_s", "tpot_s", "queue_s", "e2e_s")


@frozen
class RequestColumns:
    """Arrays of one length, a row a request; NaN for what is not known or did not happen.

    `latency` has `LATENCIES` in seconds, infinite for a request that failed. `kv_gib_s` are the
    GiB-seconds of KV cache that each held, None where nobody counted.
    """

    due_s: "Floats"
    input_tokens: "Floats"
    output_tokens: "Floats"
    latency: "Mapping[str, Floats]"
    kv_gib_s: "Floats | None" = None


@frozen
class StepColumns:
    """Arrays of one length, a row a step of one engine in order; seconds, and `kv_usage` 0..1."""

    start_s: "Floats"
    end_s: "Floats"
    running: "Floats"
    waiting: "Floats"
    preempted: "Floats"
    kv_usage: "Floats"


@frozen
class Gaps:
    """ITL in seconds, each as often as `counts` says."""

    seconds: "Floats"
    counts: "Floats"


@frozen
class RunColumns:
    """A run: its requests, the steps of each engine, its gaps between tokens where they are at hand."""

    requests: RequestColumns
    engines: tuple[StepColumns, ...]
    gaps: Gaps | None = None


def columns_of(run: "Run") -> RunColumns:
    """The columns of a run that lies on disk; it needs a table of steps.

    Raises:
        BadInput: a table is damaged.
        CannotKnow: it has no steps, as measured runs have none.
    """
    needed = {name for each in LATENCIES for name in BY_NAME[each].needs}
    lengths = {"input_tokens_asked", "output_tokens_asked"}
    table = run.requests.read(sorted(needed | lengths | {"outcome"}))
    found = {name: _numbers(table.column(name)) for name in needed | lengths}
    outcome = np.array(table.column("outcome").to_pylist())
    latency = {name: with_failures(BY_NAME[name].of(found), outcome) for name in LATENCIES}
    return RunColumns(
        RequestColumns(
            found["due_s"], found["input_tokens_asked"], found["output_tokens_asked"], latency
        ),
        _engines(run),
    )


def _engines(run: "Run") -> tuple[StepColumns, ...]:
    names = ("start_s", "end_s", "running", "waiting", "preempted", "kv_usage")
    table = run.table(STEPS).read(("engine", *names))
    engine = _numbers(table.column("engine"))
    found = {name: _numbers(table.column(name)) for name in names}
    return tuple(
        StepColumns(**{name: values[engine == one] for name, values in found.items()})
        for one in np.unique(engine)
    )


def _numbers(column: "pa.ChunkedArray") -> "Floats":
    """Float64, NaN for null."""
    found: Floats = column.to_numpy().astype(np.float64)
    return found
