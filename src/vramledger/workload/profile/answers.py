"""Answers of an engine as arrays, counted for a progress bar."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from vramledger.workload.profile.aggregates import Expression, frequency
from vramledger.workload.profile.frequency import Frequency, added_up
from vramledger.workload.profile.sums import too_large
from vramledger.workload.tables import Fetch

if TYPE_CHECKING:
    import pyarrow as pa

Progress: TypeAlias = Callable[[int, int], None]  # questions answered, questions in all


class Answers:
    """Asks one question after the other."""

    def __init__(self, fetch: Fetch, planned: int, progress: Progress | None = None) -> None:
        self._fetch, self._planned, self._asked = fetch, planned, 0
        self._progress = progress or (lambda _answered, _planned: None)
        self._progress(0, planned)

    def columns(self, question: Expression) -> Mapping[str, Any]:
        """Columns by name: int64 arrays of whole numbers, lists of whatever else there is."""
        found = self._answer(question)
        return {name: _array(found.column(name)) for name in found.column_names}

    def one(self, question: Expression) -> Mapping[str, Any]:
        """The columns of a question that has one row, as Python's numbers; None is null."""
        return dict(self._answer(question).to_pylist()[0])

    def _answer(self, question: Expression) -> "pa.Table":
        found = _in_64_bits(self._fetch(question))
        self._asked += 1
        self._progress(self._asked, max(self._planned, self._asked))
        return found

    def frequency(self, table: Expression, value: Expression) -> Frequency | None:
        """How often each value occurs; None where it never does."""
        return self.table(frequency(table, value))

    def table(self, question: Expression) -> Frequency | None:
        """The frequency table that a question of value and requests gives."""
        found = self.columns(question)
        return added_up(found["value"], found["requests"])

    def done(self) -> None:
        """Say that no question is left."""
        self._progress(self._planned, self._planned)


def _in_64_bits(found: "pa.Table") -> "pa.Table":
    """Sums that an engine gives with more digits than they need, as whole numbers of 64 bits.

    Raises:
        BadInput: they do need more.
    """
    import pyarrow as pa

    for place, column in enumerate(found.schema):
        if pa.types.is_decimal(column.type):
            try:
                narrow = found.column(place).cast(pa.int64())
            except pa.ArrowInvalid:
                raise too_large() from None
            found = found.set_column(place, column.name, narrow)
    return found


def _array(column: Any) -> Any:
    """A column without nulls; `to_numpy` would do the same after importing pandas."""
    import numpy as np
    import pyarrow as pa

    if not pa.types.is_integer(column.type):
        return column.to_pylist()
    chunks = [np.from_dlpack(chunk) for chunk in column.chunks if len(chunk)]
    return np.concatenate([np.zeros(0, np.int64), *chunks])
