"""A worker's share of a stored workload, row by row, a batch in memory at a time."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome
from vramledger.trial.load.sendable import COLUMNS, sent
from vramledger.workload.store import read_batches

if TYPE_CHECKING:
    import pyarrow as pa

    from vramledger.workload.operators.columns import Array

_READ: Final = (
    "row", "arrival_s", "input_tokens", "output_tokens", "prefix_blocks", "session", "turn", "think_s",
    "outcome", "cancel_after_s", "retry_of", "tenant",
)  # fmt: skip


_AT_ONCE: Final = 4096  # rows: in batches of a whole row group a worker takes twice the memory


@frozen
class Share:
    """The rows of part `part` of `parts`: by session, and by row where there is none."""

    part: int
    parts: int


@frozen
class Row:
    """A request of the workload that is sent; None where the workload does not say."""

    row: int
    arrival_s: float | None
    input_tokens: int
    output_tokens: int
    blocks: Sequence[int]
    session: int | None
    turn: int | None
    think_s: float | None
    tenant: int | None
    cancel_after_s: float | None
    times_out: bool
    attempt: int


def rows(path: Path, share: Share) -> Iterator[Row]:
    """The rows of a share, in the order of the workload."""
    attempts: dict[int, int] = {}  # of rows that are retries
    for batch in read_batches(path, tuple(dict.fromkeys((*_READ, *COLUMNS))), _AT_ONCE):
        _count_attempts(batch, attempts)
        kept = _mine(batch, share) & sent(batch)
        yield from _rows(batch, kept, attempts)


def _count_attempts(batch: "pa.RecordBatch", attempts: dict[int, int]) -> None:
    """Add the retries of a batch: a request that repeats attempt k is attempt k + 1."""
    retries = batch.filter(batch.column("retry_of").is_valid())
    numbers, before = (retries.column(name).to_pylist() for name in ("row", "retry_of"))
    for number, repeated in zip(numbers, before, strict=True):
        attempts[number] = attempts.get(repeated, 0) + 1


def _mine(batch: "pa.RecordBatch", share: Share) -> "Array":
    import numpy as np

    from vramledger.workload.operators.columns import column

    session, row = column(batch, "session"), column(batch, "row")
    owner = np.where(session.absent, row.values, session.values)
    mine: Array = owner % share.parts == share.part
    return mine


def _rows(batch: "pa.RecordBatch", kept: "Array", attempts: dict[int, int]) -> Iterator[Row]:
    import pyarrow as pa

    chosen = batch.filter(pa.array(kept)).select(list(_READ))
    columns = [chosen.column(name).to_pylist() for name in _READ]
    for (
        row,
        arrival,
        inputs,
        outputs,
        blocks,
        session,
        turn,
        think,
        outcome,
        cancel,
        _,
        tenant,
    ) in zip(*columns, strict=True):
        yield Row(
            row=row,
            arrival_s=arrival,
            input_tokens=inputs,
            output_tokens=outputs,
            blocks=blocks or (),
            session=session,
            turn=turn,
            think_s=think,
            tenant=tenant,
            cancel_after_s=cancel,
            times_out=outcome == Outcome.TIMED_OUT,
            attempt=attempts.get(row, 0),
        )
