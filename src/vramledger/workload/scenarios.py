"""Scenarios: named stretches of a workload, found by fixed definitions in whole numbers.

The log covers the whole seconds 0 .. L - 1, where second s holds the arrivals with
``s <= arrival_s < s + 1`` and L - 1 is the second of the last arrival. A second's tokens are the
input and output tokens of the requests that arrive in it; a length that is not known counts as 0. A
window is half-open and holds every request that arrives in it, of whatever length.

========== ==================================================================================
daily      The median busy hour. Hours are cut from second 0; only the full ones count. An hour
           is busy when it has at least half of the mean tokens of the full hours. The busy hours
           are ordered by tokens, then by time; of k the one at place (k - 1) // 2 is taken.
peak       The 900 s with the most tokens.
long-burst The 300 s with the most input tokens of long requests: those whose input is above the
           log's own 95th percentile (linear interpolation), strictly.
tail       Every request at the log's own arrivals, but the longest hundredth (the ceil(n / 100)
           with the most input and output tokens; of equals the earlier ones) in runs of 10
           consecutive arrivals, one run in each of equal stretches of the order. See
           `operators.tail`. Lengths and counts are those of the whole log.
day        Arrivals from 08:00 to 20:00 of every day, in the log's time zone.
night      All others of a log with a clock.
========== ==================================================================================

Sliding windows (peak, long-burst) start at a second with an arrival, or end with the log. Of windows
with equally many tokens the earliest is taken. A log shorter than a window is its own window, and the
note says so. Where no request has tokens, daily and peak count requests instead and say so.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen

if TYPE_CHECKING:
    import numpy as np

HOUR_S: Final = 3600
PEAK_S: Final = 900
LONG_BURST_S: Final = 300
DAY_S: Final = 86_400
DAY_STARTS_S: Final = 8 * HOUR_S
DAY_ENDS_S: Final = 20 * HOUR_S
TAIL_SHARE: Final = 100  # one request in so many is of the tail
TAIL_RUN: Final = 10  # requests of the tail in a row

DEFINITIONS: Final[Mapping[str, str]] = {
    "daily": "the median busy hour by tokens",
    "peak": "the 15 minutes with the most tokens",
    "long-burst": "the 5 minutes with the most tokens of inputs above the log's own p95",
    "tail": "all requests, the longest 1 % of them in runs of 10",
    "day": "from 08:00 to 20:00",
    "night": "from 20:00 to 08:00",
}
NO_TIMES: Final = "The log has no times; import it from logs that tell when requests came."


@frozen
class Seconds:
    """What arrived in each second: int64 arrays of one length, of the seconds with an arrival only."""

    second: "np.ndarray[Any, np.dtype[np.int64]]"  # ascending, from 0
    requests: "np.ndarray[Any, np.dtype[np.int64]]"
    tokens: "np.ndarray[Any, np.dtype[np.int64]]"  # input and output
    long_tokens: "np.ndarray[Any, np.dtype[np.int64]]"  # input of requests above `long_input`


@frozen
class Span:
    """Seconds [start_s, end_s) since the first arrival."""

    start_s: int
    end_s: int

    @property
    def seconds(self) -> int:
        return self.end_s - self.start_s


@frozen
class Window:
    """A scenario found. `spans` are disjoint and ascending; empty means the whole log (tail)."""

    name: str
    spans: tuple[Span, ...]
    note: str | None = None  # one sentence, where the definition could not be kept to the letter

    @property
    def definition(self) -> str:
        return DEFINITIONS[self.name]

    @property
    def seconds(self) -> int | None:
        """Seconds covered; None for the whole log."""
        return sum(span.seconds for span in self.spans) if self.spans else None


@frozen
class Found:
    """The scenarios of a log, and why the others are not to be had."""

    windows: tuple[Window, ...]
    unknown: Mapping[str, str]  # name -> one sentence


class NotFound(Exception):
    """A scenario that this log does not have; the sentence says why."""


def long_input(
    lengths: "np.ndarray[Any, np.dtype[np.int64]]", requests: "np.ndarray[Any, np.dtype[np.int64]]"
) -> int:
    """The whole number that long inputs exceed: the 95th percentile, rounded down.

    `lengths` are distinct and ascending, `requests` counts each. A whole number is above the
    percentile exactly when it is above this; computed in whole numbers, so every engine agrees.
    """
    import numpy as np

    upto = np.cumsum(requests)
    rank, part = divmod(19 * (int(upto[-1]) - 1), 20)
    low = int(lengths[np.searchsorted(upto, rank, side="right")])
    high = low if not part else int(lengths[np.searchsorted(upto, rank + 1, side="right")])
    return low + (high - low) * part // 20


def windows(seconds: Seconds | None, week_offset_s: int | None) -> Found:
    """Every scenario of a log.

    Args:
        seconds: None where the log has no times.
        week_offset_s: seconds from Monday 00:00 to second 0; None where the log has no clock.
    """
    found, unknown = [], {}
    for name in DEFINITIONS:
        try:
            found.append(window(name, seconds, week_offset_s))
        except NotFound as reason:
            unknown[name] = str(reason)
    return Found(tuple(found), unknown)


def window(name: str, seconds: Seconds | None, week_offset_s: int | None) -> Window:
    """One scenario of a log.

    Raises:
        NotFound: the log does not have it.
        KeyError: no scenario has that name.
    """
    if name == "tail":
        return Window("tail", ())
    finder = _FINDERS[name]
    if seconds is None or not len(seconds.second):
        raise NotFound(NO_TIMES)
    return finder(seconds, week_offset_s)


def _daily(seconds: Seconds, _week_offset_s: int | None) -> Window:
    import numpy as np

    covered = _covered(seconds)
    if covered < HOUR_S:
        return Window("daily", (Span(0, covered),), _shorter(covered, "an hour"))
    weights, note = _weights(seconds)
    hours = covered // HOUR_S
    edges = np.searchsorted(seconds.second, np.arange(hours + 1) * HOUR_S)
    sums = np.concatenate(([0], np.cumsum(weights)))
    tokens = [int(upto) for upto in np.diff(sums[edges])]
    busy = sorted((of, hour) for hour, of in enumerate(tokens) if 2 * hours * of >= sum(tokens))
    start = busy[(len(busy) - 1) // 2][1] * HOUR_S
    return Window("daily", (Span(start, start + HOUR_S),), note)


def _peak(seconds: Seconds, _week_offset_s: int | None) -> Window:
    covered = _covered(seconds)
    if covered < PEAK_S:
        return Window("peak", (Span(0, covered),), _shorter(covered, "15 minutes"))
    weights, note = _weights(seconds)
    return Window("peak", (_heaviest(seconds, weights, PEAK_S),), note)


def _long_burst(seconds: Seconds, _week_offset_s: int | None) -> Window:
    if not seconds.long_tokens.any():
        raise NotFound("No input of the log is above its 95th percentile.")
    covered = _covered(seconds)
    if covered < LONG_BURST_S:
        return Window("long-burst", (Span(0, covered),), _shorter(covered, "5 minutes"))
    return Window("long-burst", (_heaviest(seconds, seconds.long_tokens, LONG_BURST_S),))


def _day(seconds: Seconds, week_offset_s: int | None) -> Window:
    return _by_clock("day", DAY_STARTS_S, DAY_ENDS_S, seconds, week_offset_s)


def _night(seconds: Seconds, week_offset_s: int | None) -> Window:
    return _by_clock("night", DAY_ENDS_S, DAY_STARTS_S + DAY_S, seconds, week_offset_s)


_FINDERS: Final[Mapping[str, Callable[[Seconds, int | None], Window]]] = {
    "daily": _daily,
    "peak": _peak,
    "long-burst": _long_burst,
    "day": _day,
    "night": _night,
}


def _covered(seconds: Seconds) -> int:
    """L: whole seconds from the first arrival to the last, its own included."""
    return int(seconds.second[-1]) + 1


def _shorter(covered: int, window: str) -> str:
    return f"The log covers {covered:,} s, less than {window}; all of it is taken."


def _weights(seconds: Seconds) -> tuple["np.ndarray[Any, np.dtype[np.int64]]", str | None]:
    """What "most tokens" is counted in, and a note where it is not tokens."""
    if seconds.tokens.any():
        return seconds.tokens, None
    return seconds.requests, "The log has no token counts; requests are counted instead."


def _heaviest(
    seconds: Seconds, weights: "np.ndarray[Any, np.dtype[np.int64]]", length: int
) -> Span:
    """The earliest window of that length with the largest sum of weights; the log is as long at least."""
    import numpy as np

    starts = np.minimum(seconds.second, _covered(seconds) - length)
    sums = np.concatenate(([0], np.cumsum(weights)))
    held = (
        sums[np.searchsorted(seconds.second, starts + length)]
        - sums[np.searchsorted(seconds.second, starts)]
    )
    start = int(starts[np.argmax(held)])
    return Span(start, start + length)


def _by_clock(
    name: str, start_s: int, end_s: int, seconds: Seconds, week_offset_s: int | None
) -> Window:
    """The part of every day from `start_s` to `end_s` after midnight, as far as the log covers it."""
    import numpy as np

    if week_offset_s is None:
        raise NotFound(
            "The log has no clock, so the hour of the day is not known; import it from logs with dates."
        )
    covered = _covered(seconds)
    first = -(week_offset_s % DAY_S) - DAY_S + start_s
    spans = tuple(
        Span(max(start, 0), min(start + end_s - start_s, covered))
        for start in range(first, covered, DAY_S)
        if start + end_s - start_s > 0
    )
    edges = np.array([(span.start_s, span.end_s) for span in spans], np.int64).reshape(-1, 2)
    at = np.searchsorted(seconds.second, edges)
    if not (at[:, 1] > at[:, 0]).any():
        raise NotFound(f"No request of the log arrives {DEFINITIONS[name]}.")
    return Window(name, spans)
