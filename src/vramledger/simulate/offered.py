"""A stored workload as requests to simulate."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome
from vramledger.simulate.memory_needed import available_memory, refuse_beyond_memory
from vramledger.workload.operators.drawn_answers import with_answers
from vramledger.workload.store import read_batches, read_metadata

if TYPE_CHECKING:
    from typing import Any

    import pyarrow as pa

    Booleans: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
    Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

ABSENT: Final = -1
_NANO: Final = 1e9
_NUMBERS: Final = ("row", "input_tokens", "output_tokens", "session", "tenant")
_ENDINGS: Final = ("outcome", "cancel_after_s", "duration_s")


@frozen
class Offered:
    """Requests in the order of arrival: int64 arrays of one length, `ABSENT` where nothing is known.

    `prefix` holds the prefix blocks of all requests one after another, request i those from
    `prefix_ends[i - 1]` to `prefix_ends[i]`, each of `block_tokens` tokens; 0 where there are none.
    """

    row: "Integers"
    due_ns: "Integers"
    input_tokens: "Integers"
    output_tokens: "Integers"
    session: "Integers"
    tenant: "Integers"
    cancel_after_ns: "Integers"
    prefix: "Integers"
    prefix_ends: "Integers"
    block_tokens: int
    left_out: int  # rows without an input
    drawn: int = 0  # rows without an answer, which were given one
    drawn_tokens: int = 0  # of these rows, inputs and answers
    times_out: "Booleans | None" = None  # whether `cancel_after_ns` is a limit of time; None: never

    def __len__(self) -> int:
        return len(self.row)

    @property
    def shares_prefixes(self) -> bool:
        """Whether the workload says which prompts begin alike."""
        return len(self.prefix) > 0


def read_offered(path: Path, seed: int = 0) -> Offered:
    """The requests of a workload that have an input; those without an answer are given one, drawn by the seed.

    Raises:
        BadInput: no workload, no request in it, or more than there is memory for.
        CannotKnow: it has no times, or no lengths.
    """
    stored = read_metadata(path)
    if not stored.rows:
        raise BadInput(f"{path} holds no request; import logs that do, or choose another slice.")
    refuse_beyond_memory(stored.rows, available_memory())
    columns = (*_NUMBERS, *_ENDINGS, "arrival_s", "prefix_blocks")
    parts = [_columns(batch) for batch in read_batches(path, columns)]
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    if (whole["due_ns"] == ABSENT).any():
        raise CannotKnow(
            f"{path} has requests without times, so there is no order to simulate; vram workload synth "
            "makes arrivals for it."
        )
    kept, answered = whole["input_tokens"] >= 1, whole["output_tokens"] >= 1
    if not (kept & answered).any():
        raise CannotKnow(
            f"{path} has no request with known input and output tokens; import it with lengths, or "
            "with --tokenizer where texts are there."
        )
    lengths = whole.pop("lengths")
    prefix = whole.pop("prefix")[np.repeat(kept, lengths)]
    rows = {name: values[kept] for name, values in whole.items()}
    given, answers = rows["input_tokens"], rows["output_tokens"]
    rows["output_tokens"] = with_answers(given, answers, seed)
    drawn = answers < 1
    return Offered(
        **rows,
        prefix=prefix,
        prefix_ends=np.cumsum(lengths[kept]),
        block_tokens=stored.metadata.block_tokens or 0,
        left_out=int((~kept).sum()),
        drawn=int(drawn.sum()),
        drawn_tokens=int((given + rows["output_tokens"])[drawn].sum()),
    )


def _columns(batch: "pa.RecordBatch") -> "dict[str, Any]":
    import pyarrow.compute as pc

    blocks = batch.column("prefix_blocks")
    found: dict[str, Any] = {name: _whole(batch.column(name)) for name in _NUMBERS}
    found["due_ns"] = _nanoseconds(batch.column("arrival_s"))
    found |= _leaving(batch)
    found["lengths"] = _whole(pc.fill_null(pc.list_value_length(blocks), 0))
    found["prefix"] = _whole(pc.list_flatten(blocks))
    return found


def _leaving(batch: "pa.RecordBatch") -> "dict[str, Any]":
    """When clients leave, and which of them because a limit of time was reached.

    A log of a limit often has no `cancel_after_s`; then the request lasted as long as the limit.
    """
    import pyarrow.compute as pc

    after = _nanoseconds(batch.column("cancel_after_s"))
    ended = pc.equal(batch.column("outcome"), Outcome.TIMED_OUT.value)
    timed_out = ended.to_numpy(zero_copy_only=False).astype(np.bool_)
    lasted = _nanoseconds(batch.column("duration_s"))
    after = np.where(timed_out & (after == ABSENT), lasted, after)
    return {"cancel_after_ns": after, "times_out": timed_out & (after != ABSENT)}


def with_client_timeout(offered: Offered, seconds: float | None) -> Offered:
    """The requests of clients that leave after so long, where they would not leave before; None: as they are."""
    if seconds is None:
        return offered
    limit = round(seconds * _NANO)
    waits = (offered.cancel_after_ns == ABSENT) | (offered.cancel_after_ns > limit)
    before = np.zeros(len(offered), np.bool_) if offered.times_out is None else offered.times_out
    return replace(
        offered,
        cancel_after_ns=np.where(waits, limit, offered.cancel_after_ns),
        times_out=waits | before,
    )


def _whole(column: "pa.Array") -> "Integers":
    found: Integers = column.fill_null(ABSENT).to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def _nanoseconds(column: "pa.Array") -> "Integers":
    seconds = column.to_numpy(zero_copy_only=False).astype(np.float64)
    known = np.isfinite(seconds)
    found: Integers = np.full(len(seconds), ABSENT, np.int64)
    found[known] = np.rint(seconds[known] * _NANO).astype(np.int64)
    return found
