"""The times between output events of a run, request after request."""

from typing import TYPE_CHECKING, Any

from vramledger.frozen import frozen
from vramledger.record.document import Origin
from vramledger.record.gap_counts import ROWS
from vramledger.record.gaps import with_gaps
from vramledger.record.latency import gaps_us
from vramledger.record.outcome import Outcome
from vramledger.record.samples import STEPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from vramledger.record.run import Run

    Whole = np.ndarray[Any, np.dtype[np.int32]]
    Counts = np.ndarray[Any, np.dtype[np.int64]]


@frozen
class RequestGaps:
    """`us` are microseconds between output events, `counts` how many of them each request has in turn."""

    us: "Whole"
    counts: "Counts"

    def taken(self, order: "Counts") -> "RequestGaps":
        """Those of the requests at these places."""
        import numpy as np

        if (np.diff(order) == 1).all() and len(order) == len(self.counts):
            return self
        starts, counts = np.cumsum(self.counts) - self.counts, self.counts[order]
        us = np.empty(int(counts.sum()), self.us.dtype)
        begin = 0
        for part in range(0, len(order), ROWS):
            lengths = counts[part : part + ROWS]
            ends = np.cumsum(lengths)
            here = int(lengths.sum())
            first = starts[order[part : part + ROWS]]
            us[begin : begin + here] = self.us[np.arange(here) + np.repeat(first - (ends - lengths), lengths)]  # fmt: skip
            begin += here
        return RequestGaps(us, counts)


def gaps_by_request(run: "Run", order: "Counts") -> RequestGaps:
    """Of the requests of the measured part, taken in that order; only those that ended as asked have any.

    Raises:
        BadInput: the table is damaged.
    """
    import numpy as np

    found = list(map(_of_batch, _batches(run)))
    us = np.concatenate([np.zeros(0, np.int32), *(each.us for each in found)])
    counts = np.concatenate([np.zeros(0, np.int64), *(each.counts for each in found)])
    return RequestGaps(us, counts).taken(order)


def _batches(run: "Run") -> "Iterator[Any]":
    """Of the measured part of a trial; of all of a simulation, whose steps stand for chunks."""
    import pyarrow.compute as pc

    if STEPS.name in run.tables:
        yield from with_gaps(run, ROWS)
        return
    whole = run.description.origin is Origin.SIMULATED
    for batch in run.requests.batches(("row", "outcome", "chunk_offset_us"), ROWS):
        yield batch if whole else batch.filter(pc.is_valid(batch.column("row")))


def _of_batch(kept: Any) -> RequestGaps:
    import numpy as np
    import pyarrow.compute as pc

    offsets = kept.column("chunk_offset_us")
    told = pc.and_(pc.equal(kept.column("outcome"), Outcome.OK.value), pc.is_valid(offsets))
    told = np.asarray(pc.fill_null(told, False))
    lists = kept.filter(told).column("chunk_offset_us")
    counts = np.zeros(len(told), np.int64)
    lengths = pc.list_value_length(lists).to_numpy(zero_copy_only=False).astype(np.int64)
    counts[told] = np.maximum(lengths - 1, 0)
    us = np.minimum(gaps_us(lists), np.iinfo(np.int32).max)  # 35 minutes
    return RequestGaps(us.astype(np.int32), counts)
