"""The times between output events of a run, request after request."""

from typing import TYPE_CHECKING, Any

from vramledger.frozen import frozen
from vramledger.record.outcome import Outcome

if TYPE_CHECKING:
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
        counts = self.counts[order]
        starts = (np.cumsum(self.counts) - self.counts)[order]
        at = np.arange(counts.sum()) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
        return RequestGaps(self.us[at], counts)


def gaps_by_request(run: "Run", order: "Counts") -> RequestGaps:
    """Of the requests of the measured part, taken in that order; only those that ended as asked have any.

    Raises:
        BadInput: the table is damaged.
    """
    import numpy as np

    found = [_of_batch(batch) for batch in run.requests.batches(("row", "outcome", "chunk_offset_us"))]  # fmt: skip
    us = np.concatenate([np.zeros(0, np.int32), *(each.us for each in found)])
    counts = np.concatenate([np.zeros(0, np.int64), *(each.counts for each in found)])
    return RequestGaps(us, counts).taken(order)


def _of_batch(batch: Any) -> RequestGaps:
    import numpy as np
    import pyarrow.compute as pc

    kept = batch.filter(pc.is_valid(batch.column("row")))
    offsets = kept.column("chunk_offset_us")
    told = pc.and_(pc.equal(kept.column("outcome"), Outcome.OK.value), pc.is_valid(offsets))
    told = np.asarray(pc.fill_null(told, False))
    flat, lengths = _flat(kept.filter(told).column("chunk_offset_us"))
    inside = np.ones(max(len(flat) - 1, 0), np.bool_)
    ends = np.cumsum(lengths)
    inside[ends[(ends > 0) & (ends < len(flat))] - 1] = False
    counts = np.zeros(len(told), np.int64)
    counts[told] = np.maximum(lengths - 1, 0)
    return RequestGaps(np.diff(flat)[inside].astype(np.int32), counts)


def _flat(lists: Any) -> "tuple[Counts, Counts]":
    import numpy as np
    import pyarrow.compute as pc

    flat = lists.flatten().to_numpy(zero_copy_only=False).astype(np.int64)
    return flat, pc.list_value_length(lists).to_numpy(zero_copy_only=False).astype(np.int64)
