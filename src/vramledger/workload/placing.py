"""Where requests stand in time: one zero for all files, spread and moved where asked."""

from datetime import UTC, datetime, timezone
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from vramledger.frozen import frozen
from vramledger.workload import clock, coarsen
from vramledger.workload.arrivals import Arrivals
from vramledger.workload.loss import ClockReport, Tally
from vramledger.workload.spool import NO_TIME

if TYPE_CHECKING:
    from array import array

    import numpy as np

    Nanoseconds: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

_SECOND: Final = 10**9
_WEEK_S: Final = 7 * 86_400
_FIRST_MONDAY_S: Final = 4 * 86_400  # 1970-01-05


@frozen
class Asked:
    """What is to be done with times."""

    spread: bool
    coarsen: bool
    seed: int


@frozen
class Placed:
    """Arrivals in nanoseconds since the first, in the order of reading; `NO_TIME` where unknown.

    `zero_ns` is when the first came, since the epoch; None where the log has no clock.
    """

    arrivals: "Nanoseconds"
    clock: ClockReport
    zero_ns: int | None
    history: tuple[str, ...]


def placed(found: Arrivals, asked: Asked, tally: Tally) -> Placed:
    """All arrivals on one clock."""
    import numpy as np

    arrivals = np.array(found.ns, np.int64)
    known = arrivals != NO_TIME
    if not known.any():
        return Placed(arrivals, ClockReport(), None, ())
    first_ns = _joined(arrivals, known, found, tally)
    times = arrivals[known]
    seen = clock.examine(times)
    times, history = _changed(times, found.groups(known) if asked.coarsen else None, seen, asked)
    arrivals[known] = times - times.min()
    report = ClockReport(
        out_of_order=tally.out_of_order,
        largest_step_back_s=tally.largest_step_back_ns / _SECOND,
        largest_gap_s=seen.largest_gap_ns / _SECOND,
        gaps_over_a_day=seen.long_gaps,
        instants=seen.instants,
        quantum_s=None if seen.quantum_ns is None else seen.quantum_ns / _SECOND,
        spread=asked.spread and seen.quantum_ns is not None,
    )
    return Placed(arrivals, report, first_ns, history)


def week_offset_s(zero_ns: int, zone: timezone | None) -> int:
    """Seconds from Monday 00:00 to that moment in a zone (None: UTC), in whole minutes."""
    east = 0 if zone is None else seconds_east(zone)
    return (zero_ns // _SECOND + east - _FIRST_MONDAY_S) % _WEEK_S // 60 * 60


def seconds_east(zone: timezone) -> int:
    """Seconds that a zone of fixed offset is ahead of UTC."""
    return round(zone.utcoffset(None).total_seconds())


def moment(ns: int) -> str:
    """A moment since the epoch as ISO 8601 with all its digits, in UTC."""
    seconds, rest = divmod(ns, _SECOND)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"


def identical_rows(fingerprints: "array[int]") -> int:
    """How many rows repeat one before.

    By 64-bit hashes: in a log of 20 million rows two are equal by chance once in 1e5 times.
    """
    import numpy as np

    return len(fingerprints) - len(np.unique(np.array(fingerprints, np.int64)))


def _joined(arrivals: "Nanoseconds", known: Any, found: Arrivals, tally: Tally) -> int | None:
    """Put relative arrivals on the clock of the others; the moment of the first arrival, if known."""
    import numpy as np

    relative = np.zeros(len(arrivals), bool)
    for start, end in found.relative:
        relative[start:end] = True
    relative &= known
    since_epoch = known & ~relative
    if len(found.relative) > 1:
        tally.assume("The zeros of logs with relative times are taken as one moment (assumed).")
    if found.zero_ns is None or not since_epoch.any():
        return None
    if relative.any():
        arrivals[relative] += arrivals[since_epoch].min()
        tally.assume(
            "The zero of logs with relative times is taken as the first arrival of the others "
            "(assumed)."
        )
    return found.zero_ns + int(arrivals[known].min())


def _changed(
    times: "Nanoseconds", groups: "Nanoseconds | None", seen: clock.Clock, asked: Asked
) -> "tuple[Nanoseconds, tuple[str, ...]]":
    """The times spread and moved as asked, and what to say of it."""
    history: list[str] = []
    if asked.spread and seen.quantum_ns is not None:
        times = clock.spread(times, seen.quantum_ns, asked.seed)
        step = seen.quantum_ns / _SECOND
        history.append(
            f"Requests of one instant were spread over {step:g} s (--spread, seed {asked.seed})."
        )
    if groups is not None:
        times = coarsen.moved(times, groups, asked.seed)
    return times, tuple(history)
