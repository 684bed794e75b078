"""Which requests of a workload a trial can send, and why it cannot send the others."""

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from vramledger.workload.operators.columns import Array

COLUMNS: Final = ("input_tokens", "images", "audio_s")


def _no_input(batch: "pa.RecordBatch") -> "Array":
    from vramledger.workload.operators.columns import column

    found = column(batch, "input_tokens")
    none: Array = found.absent | (found.values < 1)
    return none


def _some(name: str) -> "Callable[[pa.RecordBatch], Array]":
    """Rows in which a column is above 0."""

    def there(batch: "pa.RecordBatch") -> "Array":
        from vramledger.workload.operators.columns import column

        found = column(batch, name)
        some: Array = ~found.absent & (found.values > 0)
        return some

    return there


REASONS: "Final[dict[str, Callable[[pa.RecordBatch], Array]]]" = {
    "no known prompt length": _no_input,
    "images in the prompt": _some("images"),
    "audio in the prompt": _some("audio_s"),
}


def left_out(batch: "pa.RecordBatch") -> "dict[str, Array]":
    """For each reason the rows of a batch, with `COLUMNS`, that are not sent because of it; the first one counts."""
    found: dict[str, Array] = {}
    before: Array | None = None
    for reason, holds in REASONS.items():
        here = holds(batch)
        found[reason] = here if before is None else here & ~before
        before = here if before is None else before | here
    return found


def sent(batch: "pa.RecordBatch") -> "Array":
    """Which rows of a batch, with `COLUMNS`, are sent."""
    import numpy as np

    kept: Array = ~np.logical_or.reduce(list(left_out(batch).values()))
    return kept
