"""ITL by time of the run: of any number of gaps, in one pass, with percentiles to about one per cent.

Gaps are counted in classes of equal ratio, 64 to a doubling, so that a percentile is at most 1.1 % above the true one; the
longest gap of every window is exact.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from vramledger.frozen import frozen
from vramledger.record.gaps import with_gaps
from vramledger.record.outcome import Outcome
from vramledger.record.overview.bands import SHARES, Bands
from vramledger.record.overview.distribution import Distribution
from vramledger.record.samples import STEPS

if TYPE_CHECKING:
    import pyarrow as pa

    from vramledger.record.run import Run

    Floats = np.ndarray[Any, np.dtype[np.float64]]
    Integers = np.ndarray[Any, np.dtype[np.int64]]

_A_DOUBLING: Final = 64
_LEAST: Final = -20  # 2^-20 s: about a microsecond, below which no client can tell
_DOUBLINGS: Final = 36
_CLASSES: Final = _A_DOUBLING * _DOUBLINGS
_BATCH: Final = 4_096  # requests
_COLUMNS: Final = ("row", "outcome", "first_content_s", "chunk_offset_us")


@frozen
class ItlWindows:
    """Gaps of requests that ended as asked, by the window of time in which the later chunk came."""

    bands: Bands
    distribution: Distribution


@frozen
class _Gaps:
    at_s: "Floats"
    seconds: "Floats"


def itl_windows(run: "Run", edges_s: "Floats", *, rows_only: bool) -> ItlWindows | None:
    """Between each edge and the next; with `rows_only` the warm-up is left out. None where no gap was recorded.

    Raises:
        BadInput: the table is damaged.
    """
    windows = len(edges_s) - 1
    counts = np.zeros(windows * _CLASSES, np.int64)
    worst = np.zeros(windows)
    for gaps in _gaps_of(run, rows_only=rows_only):
        place = np.searchsorted(edges_s, gaps.at_s, side="right") - 1
        place = np.clip(place, 0, windows - 1)
        counts += np.bincount(place * _CLASSES + _classes(gaps.seconds), minlength=len(counts))
        np.maximum.at(worst, place, gaps.seconds)
    by_window = counts.reshape(windows, _CLASSES)
    if not counts.any():
        return None
    return ItlWindows(_bands(by_window, worst, edges_s), _distribution(by_window, worst))


def _gaps_of(run: "Run", *, rows_only: bool) -> Iterator[_Gaps]:
    stepped = STEPS.name in run.tables
    batches = with_gaps(run, _BATCH) if stepped else run.requests.batches(_COLUMNS, _BATCH)
    for batch in batches:
        found = _of_batch(batch, rows_only=rows_only)
        if len(found.seconds):
            yield found


def _of_batch(batch: "pa.RecordBatch", *, rows_only: bool) -> _Gaps:
    import pyarrow.compute as pc

    kept = pc.and_(
        pc.equal(batch.column("outcome"), Outcome.OK.value),
        pc.and_(pc.is_valid(batch.column("chunk_offset_us")), pc.is_valid(batch.column("first_content_s"))),
    )  # fmt: skip
    if rows_only:
        kept = pc.and_(kept, pc.is_valid(batch.column("row")))
    chosen = batch.filter(kept)
    lists = chosen.column("chunk_offset_us")
    offsets = lists.flatten().to_numpy(zero_copy_only=False).astype(np.float64) / 1e6
    lengths = np.asarray(lists.value_lengths().to_numpy(zero_copy_only=False), np.int64)
    first = np.asarray(chosen.column("first_content_s").to_numpy(), np.float64)
    at = np.repeat(first, lengths) + offsets
    later = np.ones(len(offsets), np.bool_)
    later[(np.cumsum(lengths) - lengths)[lengths > 0]] = False
    gaps = np.diff(offsets, prepend=0.0)
    return _Gaps(at[later], np.maximum(gaps[later], 0.0))


def _classes(seconds: "Floats") -> "Integers":
    floor = 2.0**_LEAST
    found = np.floor((np.log2(np.maximum(seconds, floor)) - _LEAST) * _A_DOUBLING)
    classes: Integers = np.minimum(found, _CLASSES - 1).astype(np.int64)
    return classes


def _uppers() -> "Floats":
    """The upper edge of each class, in seconds."""
    found: Floats = 2.0 ** (_LEAST + (np.arange(_CLASSES) + 1) / _A_DOUBLING)
    return found


def _bands(by_window: "Integers", worst: "Floats", edges_s: "Floats") -> Bands:
    count = by_window.sum(axis=1)
    told = np.flatnonzero(count)
    upto, uppers = np.cumsum(by_window[told], axis=1), _uppers()
    values = {}
    for name, share in SHARES.items():
        wanted = np.maximum(np.ceil(share * count[told] - 1e-9), 1)
        place = (upto < wanted[:, None]).sum(axis=1)
        values[name] = np.minimum(uppers[place], worst[told])
    middles = (edges_s[1:] + edges_s[:-1]) / 2
    return Bands(told, middles[told], count[told], np.zeros(len(told), np.int64), values)


def _distribution(by_window: "Integers", worst: "Floats") -> Distribution:
    """A point for each class that has a gap."""
    counts = by_window.sum(axis=0)
    told = np.flatnonzero(counts)
    upto = np.cumsum(counts[told])
    values = np.minimum(_uppers()[told], worst.max())
    return Distribution(upto / upto[-1], values, float(upto[-1]))
