"""Figures of other tools over imported records: arrays of the successes, from when each was sent, in seconds."""

from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.record.gap_counts import ROWS, GapCounter, GapCounts
from vramledger.record.latency import gaps_us
from vramledger.record.outcome import Outcome
from vramledger.record.stored import TableOnDisk

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pyarrow as pa

    Floats = np.ndarray[Any, np.dtype[np.float64]]

_MOMENTS: Final = (
    "dispatched_s", "first_role_s", "first_content_s", "last_content_s", "done_s", "due_s", "output_tokens_got",
    "input_tokens_got",
)  # fmt: skip


@frozen
class Counted:
    """Of the requests that ended as asked, NaN where a figure is not told; those of a warm-up, which have no row, are left out.

    `first_s` ends with the first token, `message_s` with the first message of any kind, a role included. `last_s` ends with the
    last token, `end_s` with the response. `tokens` are of answers, `inputs` of prompts, `streamed` what chunks held. `gaps` are all times
    between chunks. `had_role` marks those with a message before the first token. `records` counts the requests of every kind, which lasted from
    `begun_s` to `ended_s`, and `streams` those of them whose chunks are told.
    """

    sent_s: "Floats"
    first_s: "Floats"
    message_s: "Floats"
    last_s: "Floats"
    end_s: "Floats"
    tokens: "Floats"
    inputs: "Floats"
    streamed: "Floats"
    had_role: "np.ndarray[Any, np.dtype[np.bool_]]"
    gaps: GapCounts
    streams: int
    records: int
    begun_s: float
    ended_s: float

    def per_gap(self, start: "Floats") -> "Floats":
        """From `start` to the last token, over the tokens but one; not defined below two."""
        import numpy as np

        return (self.last_s - start) / np.where(self.tokens >= 2, self.tokens - 1, np.nan)

    @property
    def successes(self) -> int:
        """How many ended as asked."""
        return len(self.tokens)

    @property
    def roles(self) -> int:
        """How many of them had a message before their first token."""
        return int(self.had_role.sum())

    @property
    def span_s(self) -> float:
        """From the first one sent to the last token of one; NaN where there is none."""
        import numpy as np

        ends = self.sent_s + self.last_s
        told = ~np.isnan(ends)
        if not told.any():
            return float("nan")
        return float(ends[told].max() - self.sent_s[told].min())


def counted(table: TableOnDisk) -> Counted:
    """The figures of a table of requests, read in pieces.

    Raises:
        BadInput: it is damaged.
    """
    import numpy as np
    import pyarrow.compute as pc

    parts: dict[str, list[Floats]] = {name: [np.zeros(0)] for name in (*_MOMENTS, "streamed")}
    gaps, begun, ended, streams = GapCounter(), np.inf, 0.0, 0
    for batch in table.batches((*_MOMENTS, "row", "outcome", "chunk_offset_us", "chunk_tokens"), ROWS):  # fmt: skip
        begun = min(begun, float(np.nanmin(_numbers(batch, "due_s"))))
        ended = max(ended, _latest(batch))
        streams += len(batch) - batch.column("chunk_offset_us").null_count
        ok = pc.and_(pc.is_valid(batch.column("row")), pc.equal(batch.column("outcome"), Outcome.OK.value))  # fmt: skip
        kept = batch.filter(ok)
        gaps.add(gaps_us(kept.column("chunk_offset_us")))
        for name in _MOMENTS:
            parts[name].append(_numbers(kept, name))
        parts["streamed"].append(_sums(kept.column("chunk_tokens")))
    found = {name: np.concatenate(each) for name, each in parts.items()}
    sent = found["dispatched_s"]
    role, first = found["first_role_s"], found["first_content_s"]
    return Counted(
        sent_s=sent,
        first_s=first - sent,
        message_s=np.where(np.isnan(role), first, role) - sent,
        last_s=found["last_content_s"] - sent,
        end_s=found["done_s"] - sent,
        tokens=found["output_tokens_got"],
        inputs=found["input_tokens_got"],
        streamed=found["streamed"],
        had_role=~np.isnan(role),
        gaps=gaps.found(),
        streams=streams,
        records=table.rows,
        begun_s=0.0 if np.isinf(begun) else begun,
        ended_s=ended,
    )


def _numbers(batch: "pa.RecordBatch", name: str) -> "Floats":
    import numpy as np
    import pyarrow as pa

    column = batch.column(name).cast(pa.float64(), safe=False)
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def _latest(batch: "pa.RecordBatch") -> float:
    import numpy as np

    names: Sequence[str] = ("due_s", "dispatched_s", "last_content_s", "done_s")
    return float(np.nanmax([np.nanmax(_numbers(batch, name), initial=0.0) for name in names]))


def _sums(lists: "pa.Array") -> "Floats":
    """Of each list; 0 where there is none."""
    import numpy as np
    import pyarrow.compute as pc

    owners = pc.list_parent_indices(lists).to_numpy(zero_copy_only=False)
    entries = pc.list_flatten(lists).to_numpy(zero_copy_only=False)
    sums: Floats = np.bincount(owners, entries, len(lists)).astype(np.float64)
    return sums
