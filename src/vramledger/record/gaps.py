"""When each chunk of a simulated request came: expanded from its steps and the table of step times.

A simulated run keeps two numbers a request in place of thousands. From first_step to last_step every
step of its engine brought tokens, but for those in silent_steps; a chunk came when its step ended:

    chunk_offset_us = round((end_s[step] - end_s[first_step]) x 10^6)
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from vramledger.errors import BadInput
from vramledger.record.requests import REQUESTS
from vramledger.record.run import Run
from vramledger.record.samples import STEPS
from vramledger.record.table import arrow_schema

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
    Booleans: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

_COLUMN: Final = "chunk_offset_us"


def with_gaps(run: Run, rows: int = 4_096) -> Iterator["pa.RecordBatch"]:
    """The requests of a run in order, with chunk_offset_us also where steps stand for it.

    Columns beyond those of the schema are left out.

    Raises:
        BadInput: steps are named that the run does not have.
        CannotKnow: there is no table of steps, and there should be.
    """
    import pyarrow.compute as pc

    times: StepTimes | None = None
    for batch in run.requests.batches(tuple(REQUESTS.columns), rows):
        if batch.column("first_step").null_count == len(batch):
            yield batch
            continue
        times = times or StepTimes(run)
        given = batch.column(_COLUMN)
        yield batch.set_column(
            batch.schema.get_field_index(_COLUMN),
            arrow_schema(REQUESTS).field(_COLUMN),
            pc.coalesce(given, times.offsets_us(batch)),
        )


class StepTimes:
    """When the steps of each engine ended, from a run's table of steps.

    Raises:
        BadInput: an engine's steps have holes, or end out of order.
    """

    def __init__(self, run: Run) -> None:
        import numpy as np

        table = run.table(STEPS)
        self._where = str(table.path)
        found = table.read(("engine", "step", "end_s"))
        engines, steps, self._ends = (column.to_numpy() for column in found.columns)
        same = np.diff(engines) == 0
        if (np.diff(engines) < 0).any() or (np.diff(steps)[same] != 1).any():
            self._refuse("has steps with holes or out of order")
        if (np.diff(self._ends)[same] < 0).any():
            self._refuse("has steps that end before the one before them")
        self._engines, self._places, counts = np.unique(
            engines, return_index=True, return_counts=True
        )
        self._firsts = steps[self._places]
        self._lasts = self._firsts + counts - 1

    def offsets_us(self, requests: "pa.RecordBatch") -> "pa.Array":
        """The chunk offsets of each request, null where it has no steps.

        Raises:
            BadInput: a request names steps that are not in the table.
        """
        import numpy as np
        import pyarrow as pa

        present = _present(requests)
        starts, lengths = self._spans(requests, present)
        bounds = np.concatenate(([0], np.cumsum(lengths)))
        flat = np.arange(bounds[-1]) + np.repeat(starts - bounds[:-1], lengths)
        since = np.repeat(self._ends[starts], lengths)
        offsets = np.rint((self._ends[flat] - since) * 1e6).astype(np.int64)
        speaking = _speaking(requests, present, bounds)
        kept = np.concatenate(([0], np.cumsum(speaking)))[bounds]
        whole = np.zeros(len(requests), dtype=np.int64)
        whole[present] = np.diff(kept)
        return pa.ListArray.from_arrays(
            pa.array(np.concatenate(([0], np.cumsum(whole))), pa.int32()),
            pa.array(offsets[speaking]),
            mask=pa.array(~present),
        )

    def _spans(
        self, requests: "pa.RecordBatch", present: "Booleans"
    ) -> "tuple[Integers, Integers]":
        """Where the steps of each present request begin among all steps, and how many they are."""
        import numpy as np

        engine, first, last = (
            requests.column(name).fill_null(0).to_numpy()[present].astype(np.int64)
            for name in ("engine", "first_step", "last_step")
        )
        number = np.searchsorted(self._engines, engine).clip(max=max(len(self._engines) - 1, 0))
        known = len(self._engines) > 0 and bool(
            (
                (self._engines[number] == engine)
                & (self._firsts[number] <= first)
                & (first <= last)
                & (last <= self._lasts[number])
            ).all()
        )
        if len(first) and not known:
            self._refuse("does not hold all steps that the requests name")
        return self._places[number] + first - self._firsts[number], last - first + 1

    def _refuse(self, what: str) -> None:
        raise BadInput(f"{self._where} {what}; use an unchanged copy of the run.")


def _present(requests: "pa.RecordBatch") -> "Booleans":
    import numpy as np

    first, last = (requests.column(name).is_valid() for name in ("first_step", "last_step"))
    both: Booleans = np.asarray(first) & np.asarray(last)
    return both


def _speaking(requests: "pa.RecordBatch", present: "Booleans", bounds: "Integers") -> "Booleans":
    """Which of the steps brought tokens; requests without a pause cost nothing here."""
    import numpy as np

    speaking = np.ones(bounds[-1], dtype=np.bool_)
    pauses = requests.column("silent_steps").filter(present)
    for place in np.flatnonzero(np.asarray(pauses.is_valid())).tolist():
        flat = pauses[place].as_py()
        for begin, length in zip(flat[::2], flat[1::2], strict=True):
            end = min(bounds[place] + begin + length, bounds[place + 1])
            speaking[bounds[place] + begin : end] = False
    return speaking
