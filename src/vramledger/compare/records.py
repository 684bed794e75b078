"""The requests of one run as arrays, in the order in which they were due."""

from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.record.latency import BY_NAME, longest_gap_s
from vramledger.record.outcome import Outcome

if TYPE_CHECKING:
    import numpy as np

    from vramledger.record.run import Run

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Whole = np.ndarray[Any, np.dtype[np.int64]]
    Booleans = np.ndarray[Any, np.dtype[np.bool_]]

LATENCIES: Final = ("ttft_s", "first_answer_s", "tpot_s", "queue_s", "e2e_s")
LONGEST_GAP: Final = "longest_gap_s"
NAMES: Final = (*LATENCIES, LONGEST_GAP)
_COLUMNS: Final = (
    "row", "due_s", "dispatched_s", "first_content_s", "first_answer_s", "last_content_s", "done_s", "queue_s",
    "input_tokens_asked", "input_tokens_got", "output_tokens_asked", "output_tokens_got", "preemptions",
)  # fmt: skip
_ROUNDS: Final = 1 << 20  # of one workload in one run


@frozen
class Records:
    """Arrays of one length. `key` names a request the same in every run of its workload: its row, and the how-manieth time it was sent.

    `values` are latencies in seconds, NaN where there is none; `warm_up` counts the requests that were sent ahead and are left out.
    """

    key: "Whole"
    ok: "Booleans"
    cancelled: "Booleans"
    columns: "dict[str, Floats]"
    values: "dict[str, Floats]"
    warm_up: int

    def __len__(self) -> int:
        return len(self.key)

    def taken(self, places: "Whole | Booleans") -> "Records":
        """Some of them, in the order of `places`."""
        return Records(
            self.key[places],
            self.ok[places],
            self.cancelled[places],
            {name: each[places] for name, each in self.columns.items()},
            {name: each[places] for name, each in self.values.items()},
            self.warm_up,
        )


def records_of(run: "Run") -> Records:
    """The measured requests of a run; those of a warm-up have no row of the workload, and are left out.

    A simulation of a part of a workload tells no rows at all: its requests are known by their numbers.

    Raises:
        BadInput: the table is damaged.
    """
    import numpy as np

    columns = run.requests.numbers(*_COLUMNS)
    outcome = _outcomes(run)
    gaps = _longest(run)
    measured = ~np.isnan(columns["row"])
    if not measured.any():
        columns["row"] = np.arange(len(outcome), dtype=np.float64)
        measured = np.ones(len(outcome), np.bool_)
    places = np.flatnonzero(measured)
    places = places[np.argsort(columns["due_s"][places], kind="stable")]
    columns = {name: each[places] for name, each in columns.items()}
    values = {name: BY_NAME[name].of(columns) for name in LATENCIES}
    return Records(
        key=_keys(columns["row"].astype(np.int64)),
        ok=outcome[places] == Outcome.OK.value,
        cancelled=outcome[places] == Outcome.CANCELLED.value,
        columns=columns,
        values=values | {LONGEST_GAP: gaps[places]},
        warm_up=int((~measured).sum()),
    )


def _outcomes(run: "Run") -> "np.ndarray[Any, Any]":
    import numpy as np

    return np.asarray(run.requests.read(("outcome",))["outcome"].to_pylist(), dtype=object)


def _longest(run: "Run") -> "Floats":
    import numpy as np

    batches = run.requests.batches(("chunk_offset_us",))
    found = [longest_gap_s(batch.column("chunk_offset_us")) for batch in batches]
    return np.concatenate([np.zeros(0), *found])


def _keys(rows: "Whole") -> "Whole":
    """Rows may come again where the load repeats its workload, or a client tries again."""
    import numpy as np

    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    begins = np.concatenate(([True], ordered[1:] != ordered[:-1])) if len(rows) else np.zeros(0, bool)  # fmt: skip
    starts = np.flatnonzero(begins)
    counts = np.diff(np.append(starts, len(rows)))
    times = np.arange(len(rows)) - np.repeat(starts, counts)
    keys = np.empty(len(rows), np.int64)
    keys[order] = ordered * _ROUNDS + times
    return keys
