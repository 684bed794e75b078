"""Every chunk of every measured request: when it came, with how many tokens, and whose it is."""

from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.record.run import Run

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Booleans = np.ndarray[Any, np.dtype[np.bool_]]
    Integers = np.ndarray[Any, np.dtype[np.int64]]

_COLUMNS: Final = ("row", "first_content_s", "output_tokens_got", "chunk_offset_us", "chunk_tokens")


@frozen
class Streamed:
    """Arrays of one length, a chunk each; `owner` is the place of its request among the measured ones.

    `t_s` are seconds of the run, `first` says whether a chunk is the first of its request. Where the server did not say what a chunk held, the first has one token and the others share the rest equally.
    """

    t_s: "Floats"
    tokens: "Floats"
    owner: "Integers"
    first: "Booleans"


@frozen
class ChunkGaps:
    """Seconds between chunks that follow each other in one request: all of them, and those after a first one."""

    every: "Floats"
    after_first: "Floats"


def chunk_gaps(chunks: Streamed, requests: "Booleans") -> ChunkGaps:
    """Of the requests marked."""
    import numpy as np

    same = (np.diff(chunks.owner) == 0) & requests[chunks.owner[1:]]
    gaps_s = np.diff(chunks.t_s)
    return ChunkGaps(gaps_s[same], gaps_s[same & chunks.first[:-1]])


def streamed(run: Run) -> Streamed:
    """The chunks of a run.

    Raises:
        BadInput: the table is damaged.
    """
    import numpy as np
    import pyarrow.compute as pc

    parts = [Streamed(np.zeros(0), np.zeros(0), np.zeros(0, int), np.zeros(0, bool))]
    before = 0
    for batch in run.requests.batches(_COLUMNS):
        here = batch.filter(pc.is_valid(batch.column("row")))
        parts.append(_chunks(here, before))
        before += len(here)
    return Streamed(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("t_s", "tokens", "owner", "first"))
    )  # fmt: skip


def _chunks(here: "pa.RecordBatch", before: int) -> Streamed:
    import numpy as np
    import pyarrow.compute as pc

    offsets = here.column("chunk_offset_us")
    lengths = pc.fill_null(pc.list_value_length(offsets), 0).to_numpy(zero_copy_only=False)
    owner = np.repeat(np.arange(len(here)), lengths)
    first = np.diff(owner, prepend=-1) > 0
    got = here.column("output_tokens_got").to_numpy(zero_copy_only=False).astype(float)
    rest = np.where(lengths > 1, (got - 1) / np.maximum(lengths - 1, 1), 1.0)
    alone = np.where(lengths > 1, 1.0, got)
    tokens = np.nan_to_num(np.where(first, alone[owner], rest[owner]), nan=1.0)
    told = here.column("chunk_tokens")
    known = pc.is_valid(told).to_numpy(zero_copy_only=False)[owner]
    tokens[known] = pc.list_flatten(told).to_numpy(zero_copy_only=False)
    began = here.column("first_content_s").to_numpy(zero_copy_only=False)
    since = pc.list_flatten(offsets).to_numpy(zero_copy_only=False) / 1e6
    return Streamed(began[owner] + since, tokens, owner + before, first)
