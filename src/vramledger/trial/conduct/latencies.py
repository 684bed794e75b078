"""The latencies of a trial's measured requests, told in every way in which people count them."""

from math import inf
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from vramledger.frozen import frozen
from vramledger.record.document import Origin
from vramledger.record.gap_counts import ROWS, GapCounter, GapCounts
from vramledger.record.latency import BY_NAME, from_dispatch, gaps_us, with_failures
from vramledger.record.outcome import Outcome
from vramledger.trial.conduct.spread import Spread, spread

if TYPE_CHECKING:
    import numpy as np

    from vramledger.record.run import Run

    Floats = np.ndarray[Any, np.dtype[np.float64]]

Window: TypeAlias = tuple[float, float]  # seconds of the run
_ALL: Final[Window] = (-inf, inf)
NAMES: Final = ("ttft_s", "first_answer_s", "tpot_s", "e2e_s")
_COLUMNS: Final = (
    "due_s", "dispatched_s", "first_content_s", "first_answer_s", "last_content_s", "done_s", "output_tokens_got",
    "input_tokens_got", "cached_tokens", "row", "input_tokens_asked", "output_tokens_asked", "tenant",
    "http_status",
)  # fmt: skip


@frozen
class Latencies:
    """By name: of everything that was offered (failures infinite), of successes alone, and of successes since they were sent.

    `itl_s` are single gaps between chunks, `itl_mean_s` one mean gap a request; both of requests that ended as asked.
    """

    offered: dict[str, Spread]
    ok: dict[str, Spread]
    ok_from_dispatch: dict[str, Spread]
    itl_s: Spread
    itl_mean_s: Spread
    late_dispatch_s: Spread


@frozen
class Measured:
    """The measured requests as arrays of one length, NaN for null."""

    columns: "dict[str, Floats]"
    outcome: "np.ndarray[Any, Any]"
    errors: "np.ndarray[Any, Any]"

    def __len__(self) -> int:
        return len(self.outcome)

    def due_in(self, span: "Window") -> "Measured":
        """Those due from one second of the run to another, both included."""
        due = self.columns["due_s"]
        return self.taken((due >= span[0]) & (due <= span[1]))

    def taken(self, kept: "np.ndarray[Any, Any]") -> "Measured":
        """Those at these places, in their order, or those that are marked."""
        return Measured(
            {name: values[kept] for name, values in self.columns.items()},
            self.outcome[kept],
            self.errors[kept],
        )


def measured(run: "Run") -> Measured:
    """The requests that have a row of the workload: those of the warm-up have none. Of a simulation, which has no warm-up, all.

    Raises:
        BadInput: the table is damaged.
    """
    import numpy as np

    columns = run.requests.numbers(*_COLUMNS)
    rows = ~np.isnan(columns["row"]) | (run.description.origin is Origin.SIMULATED)
    text = run.requests.read(("outcome", "error_class"))
    outcome, errors = (
        np.asarray(text[name].to_pylist(), dtype=object) for name in ("outcome", "error_class")
    )
    return Measured(
        {name: values[rows] for name, values in columns.items()}, outcome[rows], errors[rows]
    )


def latencies(run: "Run", found: Measured, due_in: Window = _ALL) -> Latencies:
    """The latencies of a run; `found` are its requests due in that time."""
    ok = found.outcome == Outcome.OK.value
    sent = from_dispatch(found.columns)
    since_due = {name: BY_NAME[name].of(found.columns) for name in NAMES}
    since_sent = {name: BY_NAME[name].of(sent) for name in NAMES}
    gaps, means = _gaps(run, due_in)
    return Latencies(
        offered={name: spread(with_failures(each, found.outcome)) for name, each in since_due.items()},
        ok={name: spread(each[ok]) for name, each in since_due.items()},
        ok_from_dispatch={name: spread(each[ok]) for name, each in since_sent.items()},
        itl_s=spread_of_gaps(gaps),
        itl_mean_s=spread(means),
        late_dispatch_s=spread(BY_NAME["late_s"].of(found.columns)),
    )  # fmt: skip


def _gaps(run: "Run", due_in: Window) -> "tuple[GapCounts, Floats]":
    """All gaps of requests that ended as asked, and the mean gap of each."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    counter, means = GapCounter(), [np.zeros(0)]
    for batch in run.requests.batches(("row", "outcome", "due_s", "chunk_offset_us"), ROWS):
        due = batch.column("due_s").to_numpy()
        inside = pa.array((due >= due_in[0]) & (due <= due_in[1]))
        ok = pc.equal(batch.column("outcome"), Outcome.OK.value)
        measured_ok = pc.and_(pc.is_valid(batch.column("row")), ok)
        kept = batch.filter(pc.and_(measured_ok, inside)).column("chunk_offset_us").drop_null()
        gaps = gaps_us(kept)
        counter.add(gaps)
        counts = pc.list_value_length(kept).to_numpy(zero_copy_only=False).astype(np.int64) - 1
        counts = counts[counts > 0]
        if len(counts):
            means.append(np.add.reduceat(gaps, np.cumsum(counts) - counts) / counts / 1e6)
    return counter.found(), np.concatenate(means)


def spread_of_gaps(found: GapCounts) -> Spread:
    """Of gaps that were counted."""
    longest = found.at(1.0)
    return Spread(found.mean_s, found.at(0.5), found.at(0.95), found.at(0.99), longest, found.count)
