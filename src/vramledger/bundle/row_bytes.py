"""The values of rows as bytes that no library chooses: equal values are equal bytes, however they lie in memory or on disk.

Of each column, one part after the other: a byte a value that says whether it is there; then numbers as they are (little-endian,
0 where none is there), truth as a byte, texts and lists as their lengths (int64) and what is in them.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    Offsets = np.ndarray[Any, np.dtype[np.int64]]


@frozen
class Part:
    """One part of a column: its bytes, and where those of each row begin; one more entry says where the last ends."""

    content: memoryview
    begins: "Offsets"

    def between(self, first: int, end: int) -> memoryview:
        """The bytes of the rows from `first` up to `end`."""
        return self.content[int(self.begins[first]) : int(self.begins[end])]


def rows_of(batch: "pa.RecordBatch") -> list[Part]:
    """All columns of a batch, in their order.

    Raises:
        CannotKnow: a column of a type that no table of ours has.
    """
    import numpy as np

    rows = np.arange(batch.num_rows + 1, dtype=np.int64)
    return [part for column in batch.columns for part in _parts(column, rows)]


def _parts(column: "pa.Array", begins: "Offsets") -> Iterator[Part]:
    """`begins` says at which value of the column each row begins."""
    import numpy as np
    import pyarrow as pa

    yield _fixed(column.is_valid().to_numpy(zero_copy_only=False), begins)
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        zero = pa.scalar(0).cast(kind)
        yield _fixed(column.fill_null(zero).to_numpy(zero_copy_only=False), begins)
        return
    if pa.types.is_string(kind):
        column = column.fill_null("").cast(pa.binary())
    elif not pa.types.is_list(kind):
        raise CannotKnow(f"A column of type {kind} is in no table of a run or a workload.")
    inner, offsets = _inside(column)
    yield _fixed(np.diff(offsets), begins)
    if isinstance(inner, pa.Array):
        yield from _parts(inner, offsets[begins])
    else:
        yield Part(inner, offsets[begins])


def _inside(column: "pa.Array") -> "tuple[pa.Array | memoryview, Offsets]":
    """What is in lists or texts, and where each begins in it."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_list(column.type):
        inner, lengths = column.flatten(), pc.list_value_length(column)
    else:
        joined = b"".join(column.to_pylist())
        inner, lengths = memoryview(joined), pc.binary_length(column)
    counted = lengths.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return inner, np.concatenate((np.zeros(1, np.int64), np.cumsum(counted)))


def _fixed(values: Any, begins: "Offsets") -> Part:
    """Values of one width each."""
    import numpy as np

    plain = np.ascontiguousarray(values)
    plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
    content = memoryview(plain.view(np.uint8).data) if len(plain) else memoryview(b"")
    return Part(content, begins * plain.dtype.itemsize)
