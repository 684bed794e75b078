"""The latencies of a run: one written formula each, over the columns of requests.parquet.

A formula is SQL, so that DuckDB computes the same over any number of runs; `Latency.of` is the same in
numpy. All count from when the workload wanted the request sent (`due_s`), so that a client that sends
late cannot flatter the server. None of them is defined where what it needs did not happen.

Two figures are often mixed and are not the same: the **ITL** is the time between two output events (a
chunk may hold several tokens, and a preemption is one long gap), the **TPOT** is one mean a request.
"""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    import pyarrow as pa

    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
    Whole: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
    Columns: TypeAlias = Mapping[str, Floats]


@frozen
class Latency:
    """One figure a request, in seconds: its formula in SQL, the columns it needs, its meaning."""

    name: str
    title: str
    formula: str
    needs: tuple[str, ...]
    of: "Callable[[Columns], Floats]"


def _difference(end: str, start: str) -> "Callable[[Columns], Floats]":
    return lambda columns: columns[end] - columns[start]


def _tpot(columns: "Columns") -> "Floats":
    import numpy as np

    tokens = columns["output_tokens_got"]
    span = columns["last_content_s"] - columns["first_content_s"]
    return np.divide(span, tokens - 1, out=np.full_like(span, np.nan), where=tokens >= 2)


LATENCIES: Final = (
    Latency(
        "ttft_s",
        "time to the first token of any kind, thinking included",
        "first_content_s - due_s",
        ("first_content_s", "due_s"),
        _difference("first_content_s", "due_s"),
    ),
    Latency(
        "first_answer_s",
        "time to the first token of the answer, after any thinking",
        "first_answer_s - due_s",
        ("first_answer_s", "due_s"),
        _difference("first_answer_s", "due_s"),
    ),
    Latency(
        "tpot_s",
        "mean time per output token after the first, of requests with two tokens or more",
        "CASE WHEN output_tokens_got >= 2 "
        "THEN (last_content_s - first_content_s) / (output_tokens_got - 1) END",
        ("last_content_s", "first_content_s", "output_tokens_got"),
        _tpot,
    ),
    Latency(
        "queue_s",
        "wait in the engine's queue until first scheduled, as the engine tells it",
        "queue_s",
        ("queue_s",),
        lambda columns: columns["queue_s"],
    ),
    Latency(
        "e2e_s",
        "time to the end of the request",
        "done_s - due_s",
        ("done_s", "due_s"),
        _difference("done_s", "due_s"),
    ),
    Latency(
        "late_s",
        "how much later than due the client sent it",
        "dispatched_s - due_s",
        ("dispatched_s", "due_s"),
        _difference("dispatched_s", "due_s"),
    ),
)
BY_NAME: Final = {latency.name: latency for latency in LATENCIES}

ITL_FORMULA: Final = "(chunk_offset_us[i + 1] - chunk_offset_us[i]) / 1e6, for each i from 1 to len(chunk_offset_us) - 1"


def from_dispatch(columns: "Columns") -> "Columns":
    """The columns with the clock started when the request was really sent.

    For figures to compare with those of tools that count so; contracts count from `due_s`.
    """
    return {**columns, "due_s": columns["dispatched_s"]}


def with_failures(values: "Floats", outcomes: "np.ndarray[Any, Any]") -> "Floats":
    """The figures with infinity for every request that did not end as asked.

    A planned cancellation keeps its figure: whether it counts against success is for a contract to
    say. Percentiles over the result are percentiles over everything that was offered.
    """
    import numpy as np

    failed = ~np.isin(outcomes, (Outcome.OK.value, Outcome.CANCELLED.value))
    return np.where(failed, np.inf, values)


def gaps_s(chunk_offset_us: "pa.Array") -> "Floats":
    """Every ITL of a column of chunk offsets, in seconds, request after request.

    Raises:
        pyarrow.ArrowException: not a column of lists of integers.
    """
    found: Floats = gaps_us(chunk_offset_us) / 1e6
    return found


def gaps_us(chunk_offset_us: "pa.Array") -> "Whole":
    """The same in microseconds, as they were recorded.

    Raises:
        pyarrow.ArrowException: not a column of lists of integers.
    """
    import numpy as np
    import pyarrow.compute as pc

    present = chunk_offset_us.drop_null()
    offsets = present.flatten().to_numpy(zero_copy_only=False).astype(np.int64)
    lengths = pc.list_value_length(present).to_numpy(zero_copy_only=False).astype(np.int64)
    inside = np.ones(max(len(offsets) - 1, 0), dtype=np.bool_)
    ends = np.cumsum(lengths)
    inside[ends[(ends > 0) & (ends < len(offsets))] - 1] = False
    gaps: Whole = np.diff(offsets)[inside]
    return gaps


def longest_gap_s(chunk_offset_us: "pa.Array") -> "Floats":
    """The longest ITL of each request in seconds, NaN with fewer than two chunks: stalls show here."""
    import numpy as np
    import pyarrow.compute as pc

    lengths = pc.fill_null(pc.list_value_length(chunk_offset_us), 0).to_numpy(zero_copy_only=False)
    longest: Floats = np.full(len(lengths), np.nan)
    several = lengths >= 2
    counts = lengths[several].astype(np.int64) - 1
    if len(counts):
        starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
        longest[several] = np.maximum.reduceat(gaps_s(chunk_offset_us), starts)
    return longest
