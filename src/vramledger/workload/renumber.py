"""Numbers and labels by first appearance, so that they say nothing of who or what they stand for."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

_NUMBERED: Final = ("session", "tenant", "prefix_blocks")
_LABEL: Final = re.compile(r"model-(\d+)")


class Renumbering:
    """State over the batches of one workload, in their final order."""

    def __init__(self) -> None:
        self._numbers = {name: FirstAppearance() for name in _NUMBERED}
        self._labels: dict[str, str] = {}

    def applied(self, batches: Iterable["pa.RecordBatch"]) -> Iterator["pa.RecordBatch"]:
        """The batches with their numbers and labels made canonical."""
        for batch in batches:
            yield self._batch(batch)

    def _batch(self, batch: "pa.RecordBatch") -> "pa.RecordBatch":
        for name in _NUMBERED:
            index = batch.schema.get_field_index(name)
            column = batch.column(index)
            if column.null_count < len(column):
                batch = batch.set_column(
                    index, batch.schema.field(index), self._numbered(column, name)
                )
        index = batch.schema.get_field_index("model")
        return batch.set_column(
            index, batch.schema.field(index), self._labelled(batch.column(index))
        )

    def _numbered(self, column: Any, name: str) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        if not pa.types.is_list(column.type):
            return _mapped(column, self._numbers[name])
        import numpy as np

        inner = _mapped(column.flatten(), self._numbers[name])
        lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
        return pa.ListArray.from_arrays(
            pa.array(offsets), inner, type=column.type, mask=pc.is_null(column)
        )

    def _labelled(self, column: Any) -> Any:
        """Labels of ours (model-7) by first appearance; names that were kept stay."""
        encoded = column.dictionary_encode()
        first = dict.fromkeys(encoded.indices.drop_null().unique().to_pylist())
        names = encoded.dictionary.to_pylist()
        for place in first:
            name = names[place]
            if name not in self._labels:
                ours = sum(1 for known in self._labels if _LABEL.fullmatch(known))
                self._labels[name] = f"model-{ours}" if _LABEL.fullmatch(name) else name
        import pyarrow as pa

        renamed = pa.array([self._labels.get(name, name) for name in names], pa.string())
        return renamed.take(encoded.indices)


class FirstAppearance:
    """Numbers from 0 by first appearance, of numbers that are 0 or more."""

    def __init__(self) -> None:
        import numpy as np

        self._new = np.full(1024, -1, np.int32)
        self._count = 0

    def of(
        self, old: "np.ndarray[Any, np.dtype[np.int32]]"
    ) -> "np.ndarray[Any, np.dtype[np.int32]]":
        """The new numbers of an array of old ones."""
        import numpy as np

        if not len(old):
            return old
        self._reach(int(old.max()))
        distinct, first = np.unique(old, return_index=True)
        unseen = self._new[distinct] < 0
        in_order = distinct[unseen][np.argsort(first[unseen], kind="stable")]
        self._new[in_order] = np.arange(self._count, self._count + len(in_order), dtype=np.int32)
        self._count += len(in_order)
        new: np.ndarray[Any, np.dtype[np.int32]] = self._new[old]
        return new

    def _reach(self, largest: int) -> None:
        import numpy as np

        if largest >= len(self._new):
            grown = np.full(max(largest + 1, 2 * len(self._new)), -1, np.int32)
            grown[: len(self._new)] = self._new
            self._new = grown


def _mapped(column: Any, numbers: FirstAppearance) -> Any:
    """A column of numbers, renumbered; nulls stay."""
    import numpy as np
    import pyarrow as pa

    absent = np.asarray(column.is_null())
    values = column.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int32)
    new = np.zeros(len(values), np.int32)
    new[~absent] = numbers.of(values[~absent])
    return pa.array(new, pa.int32(), mask=absent)
