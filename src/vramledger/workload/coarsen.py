"""Lengths rounded and arrivals moved, for those who want less told than a workload tells."""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    import pyarrow as pa

    Nanoseconds: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

SIGNIFICANT: Final = 2  # figures that a length keeps
MOST_MOVED_NS: Final = 10**9  # that an arrival is moved by, earlier or later
_ROUNDED: Final = (
    "input_tokens",
    "output_tokens",
    "thinking_tokens",
    "cached_tokens",
    "max_output_tokens",
    "duration_ns",
    "first_token_ns",
    "think_ns",
    "cancel_after_ns",
    "audio_ns",
)
SAID: Final = (
    "Lengths and durations were rounded to 2 significant figures and arrivals moved by up to 1 s "
    "(--coarsen, seed {seed})."
)


def moved(arrivals: "Nanoseconds", groups: "Nanoseconds", seed: int) -> "Nanoseconds":
    """The arrivals, each moved by a uniform draw from -`MOST_MOVED_NS` to +`MOST_MOVED_NS`.

    Within a group (a session, a request and its retries) the moved times are dealt out in the order of
    the log: its turns stay in order, and since sorting brings no two times further apart, each is moved
    by no more than the bound still.
    """
    import numpy as np

    draws = np.random.Generator(np.random.PCG64([seed, 1]))
    drawn = draws.integers(-MOST_MOVED_NS, MOST_MOVED_NS, len(arrivals), endpoint=True)
    times = arrivals + drawn
    found = np.empty_like(times)
    found[np.lexsort((arrivals, groups))] = times[np.lexsort((times, groups))]
    return found


def rounding(block_tokens: int | None) -> "Callable[[pa.RecordBatch], pa.RecordBatch]":
    """Rounds a batch of the spool; prefix blocks beyond a shortened input are cut off.

    Rounding is monotonic, so that a part stays no more than its whole.
    """

    def rounded(batch: "pa.RecordBatch") -> "pa.RecordBatch":
        for name in _ROUNDED:
            index = batch.schema.get_field_index(name)
            column = _rounded(batch.column(index))
            batch = batch.set_column(index, batch.schema.field(index), column)
        return batch if block_tokens is None else _cut(batch, block_tokens)

    return rounded


def significant(values: "Nanoseconds") -> "Nanoseconds":
    """Whole numbers of 0 or more, each to `SIGNIFICANT` figures, halves up."""
    import numpy as np

    powers = 10 ** np.arange(19 - SIGNIFICANT, dtype=np.int64)
    place = np.searchsorted(powers * 10**SIGNIFICANT, values, side="right")
    step = powers[np.minimum(place, len(powers) - 1)]
    found: Nanoseconds = (values + step // 2) // step * step
    return found


def _rounded(column: Any) -> Any:
    import numpy as np
    import pyarrow as pa

    absent = np.asarray(column.is_null())
    values = significant(column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64))
    return pa.array(values, pa.int64(), mask=absent).cast(column.type)


def _cut(batch: "pa.RecordBatch", block_tokens: int) -> "pa.RecordBatch":
    """Without the blocks that begin beyond the input."""
    import pyarrow as pa

    index = batch.schema.get_field_index("prefix_blocks")
    blocks = batch.column(index).to_pylist()
    inputs = batch.column("input_tokens").to_pylist()
    cut = [
        each if each is None or tokens is None else each[: -(-tokens // block_tokens)]
        for each, tokens in zip(blocks, inputs, strict=True)
    ]
    column = pa.array(cut, batch.schema.field(index).type)
    return batch.set_column(index, batch.schema.field(index), column)
