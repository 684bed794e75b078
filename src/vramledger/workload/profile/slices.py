"""The figures of a scenario's requests."""

from vramledger.frozen import frozen
from vramledger.workload.profile.aggregates import Expression, second
from vramledger.workload.profile.arrival_counts import in_spans
from vramledger.workload.profile.length_counts import LengthCounts
from vramledger.workload.profile.profile import Slice
from vramledger.workload.scenarios import DAY_ENDS_S, DAY_S, DAY_STARTS_S, Seconds, Window

DAY, NIGHT, UNTIMED = 0, 1, -1  # the values of `half_of_day`
_HALVES = {"day": DAY, "night": NIGHT}
_HALF_S = DAY_ENDS_S - DAY_STARTS_S  # half of a day: the night is as long


def half_of_day(table: Expression, week_offset_s: int) -> Expression:
    """DAY, NIGHT or UNTIMED for every request."""
    of_day = (second(table) + (week_offset_s - DAY_STARTS_S) % DAY_S) % DAY_S
    return (of_day // _HALF_S).fill_null(UNTIMED).cast("int8")


def half_of(window: Window) -> int | None:
    """The half of the day that a window is; None for others."""
    return _HALVES.get(window.name)


def of_window(table: Expression, window: Window, week_offset_s: int | None) -> Expression:
    """The requests of a window; a window without spans is the whole log."""
    half = half_of(window)
    if half is not None and week_offset_s is not None:
        return table.filter(half_of_day(table, week_offset_s) == half)
    if not window.spans:
        return table
    return in_spans(table, [(span.start_s, span.end_s) for span in window.spans])


@frozen
class Durations:
    """How many requests have one, and their sum in whole milliseconds."""

    requests: int
    total_ms: int

    @property
    def mean_s(self) -> float | None:
        return self.total_ms / self.requests / 1000 if self.requests else None


def requests_in(window: Window, seconds: Seconds) -> int:
    """Requests that arrive in a window's spans."""
    import numpy as np

    edges = np.array([(span.start_s, span.end_s) for span in window.spans], np.int64)
    upto = np.concatenate(([0], np.cumsum(seconds.requests)))[
        np.searchsorted(seconds.second, edges)
    ]
    return int((upto[:, 1] - upto[:, 0]).sum())


def slice_of(
    window: Window, requests: int, lengths: LengthCounts, durations: Durations | None
) -> Slice:
    """A scenario of a profile."""
    seconds = window.seconds
    inputs, outputs = lengths.inputs, lengths.outputs
    return Slice(
        name=window.name,
        definition=window.definition
        + (f" ({window.note.removesuffix('.')})" if window.note else ""),
        start_s=float(window.spans[0].start_s) if window.spans else None,
        seconds=float(seconds) if seconds is not None else None,
        requests=requests,
        mean_per_s=requests / seconds if seconds else None,
        input_tokens=inputs.lengths(quantiles=not window.spans) if inputs else None,
        output_tokens=outputs.lengths(quantiles=not window.spans) if outputs else None,
        joint=lengths.joint,
        mean_duration_s=durations.mean_s if durations else None,
    )
