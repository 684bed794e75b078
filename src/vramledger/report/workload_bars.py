"""Histograms and curves as lines of block characters; the only arithmetic is their scale."""

from collections.abc import Sequence
from typing import Final

from vramledger.frozen import frozen
from vramledger.report.number import share_of, tokens
from vramledger.report.workload_tables import PERCENTILES
from vramledger.workload.profile.bins import EDGES, bin_of
from vramledger.workload.profile.profile import Arrival, Lengths

_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_LEVELS: Final = " ▁▂▃▄▅▆▇█"
_MOST_ROWS: Final = 16  # above it a row is an octave instead of a bin
_BEYOND: Final = 1 << 32  # above any input + output
_STEPS_MINUTES: Final = (1, 2, 5, 10, 15, 30, 60, 120, 360, 720, 1_440, 10_080)


@frozen
class Row:
    """Requests of low <= tokens < high."""

    low: int
    high: int
    requests: int


@frozen
class Spark:
    """A rate curve as one line; the last column may be shorter than the others."""

    line: str
    minutes: int  # a column
    counts: tuple[int, ...]  # requests of each column

    @property
    def fullest(self) -> int:
        return max(self.counts, default=0)


def histogram(lengths: Lengths, width: int) -> list[str]:
    """One line a row of lengths: its ends, a bar, requests, share and the percentiles in it.

    Rows are bins, or octaves where the bins are many; rows without requests between others stay.
    """
    rows = rows_of(lengths)
    shown = [(f"{row.low:,}", f"{row.high - 1:,}", f"{row.requests:,}") for row in rows]
    low, high, count = (max(len(cells[i]) for cells in shown) for i in range(3))
    marks = [_marks(lengths, row) for row in rows]
    room = max(10, width - low - high - count - max(map(len, marks)) - 19)
    most = max(row.requests for row in rows)
    return [
        f"  {cells[0]:>{low}} .. {cells[1]:>{high}}  {bar(row.requests, most, room)}  "
        f"{cells[2]:>{count}} {share_of(row.requests, lengths.count):>6}  {mark}".rstrip()
        for row, cells, mark in zip(rows, shown, marks, strict=True)
    ]


def rows_of(lengths: Lengths) -> list[Row]:
    """The bins from the first to the last with requests, by octaves where there are many."""
    if not lengths.bins:
        return []
    counts = dict(lengths.bins)
    first, last = min(counts), max(counts)
    bins = [Row(EDGES[i], upper_edge(i), counts.get(i, 0)) for i in range(first, last + 1)]
    return bins if len(bins) <= _MOST_ROWS else _octaves(bins)


def upper_edge(index: int) -> int:
    """The first length above a bin; of the last one, a length above any."""
    return EDGES[index + 1] if index + 1 < len(EDGES) else _BEYOND


def _octaves(bins: Sequence[Row]) -> list[Row]:
    """Bins put together from one power of two to the next; 0 stays alone."""
    octaves: dict[int, int] = {}
    for row in bins:
        octave = row.low.bit_length()
        octaves[octave] = octaves.get(octave, 0) + row.requests
    return [Row(1 << o >> 1, 1 << o, count) for o, count in octaves.items()]


def bar(amount: int, most: int, width: int) -> str:
    """A bar of eighths, `width` wide at `most`; what is there is never drawn as nothing."""
    eighths = round(amount * width * 8 / most) if most else 0
    eighths = max(eighths, 1 if amount else 0)
    whole, part = divmod(eighths, 8)
    return ("█" * whole + (_EIGHTHS[part] if part else "")).ljust(width)


def sparkline(arrival: Arrival, width: int) -> Spark:
    """The rate curve in at most `width` columns of as many of its steps as that takes."""
    counts, step = arrival.per_step, arrival.step_s // 60
    least = step * -(-len(counts) // width)
    minutes = next((m for m in _STEPS_MINUTES if m >= least and m % step == 0), least)
    each = minutes // step
    columns = tuple(sum(counts[i : i + each]) for i in range(0, len(counts), each))
    most = max(columns, default=0)
    line = "".join(_LEVELS[level(count, most, len(_LEVELS) - 1)] for count in columns)
    return Spark(line, minutes, columns)


def level(amount: int, most: int, levels: int) -> int:
    """0 for nothing, else 1 to `levels`."""
    return 0 if not amount else max(1, round(amount * levels / most))


def _marks(lengths: Lengths, row: Row) -> str:
    """``p50 1,020`` for each percentile in the row; those of one length share it."""
    at = [(name, getattr(lengths, key)) for name, key in PERCENTILES] + [("max", lengths.max)]
    names: dict[float, list[str]] = {}
    for name, value in at:
        if row.low <= value < row.high:
            names.setdefault(value, []).append(name)
    return ", ".join(f"{' '.join(found)} {tokens(value)}" for value, found in names.items())


def bin_position(value: float) -> float:
    """Where a length lies among the bins: 12.5 is the middle, by ratio, of bin 12."""
    from math import log

    value = min(max(value, 0), _BEYOND)
    index = bin_of(int(value))
    low, high = EDGES[index], upper_edge(index)
    return float(index) if low < 1 else index + log(max(value, low) / low) / log(high / low)
