"""When requests come: rates, dispersion, bursts, from the requests of whole seconds."""

from typing import TYPE_CHECKING, Any, Final

from vramledger.workload.profile.profile import Arrival, Burst
from vramledger.workload.scenarios import Seconds

if TYPE_CHECKING:
    import numpy as np

    Integers = np.ndarray[Any, np.dtype[np.int64]]

WINDOWS_S: Final = (1, 10, 60)
_BURST_S: Final = 10
_MOST_BURSTS: Final = 20
_WEEK_MINUTES: Final = 7 * 24 * 60


def arrival(seconds: Seconds, span_s: float, week_offset_s: int | None) -> Arrival:
    """The figures of a profile.

    Args:
        seconds: all seconds with an arrival.
        span_s: first to last arrival.
        week_offset_s: seconds from Monday 00:00 to second 0; None without a clock.
    """
    import numpy as np

    covered = int(seconds.second[-1]) + 1
    minutes = counts(seconds, 60)
    whole = {w: counts(seconds, w)[: covered // w] for w in WINDOWS_S if covered >= w}
    return Arrival(
        span_s=span_s,
        mean_per_s=int(seconds.requests.sum()) / covered,
        peak_per_s=int(seconds.requests.max()),
        dispersion={
            str(window): index
            for window, found in whole.items()
            if (index := dispersion(found)) is not None
        },
        empty={str(window): int((found == 0).sum()) for window, found in whole.items()},
        per_minute=tuple(int(each) for each in minutes),
        hour_of_week=() if week_offset_s is None else _hours(minutes, week_offset_s),
        bursts=_bursts(counts(seconds, _BURST_S), int(np.sum(seconds.requests)), covered),
    )


def counts(seconds: Seconds, window_s: int) -> "Integers":
    """Requests in each window from second 0 to that of the last arrival."""
    import numpy as np

    places = seconds.second // window_s
    found = np.zeros(int(places[-1]) + 1, np.int64)
    np.add.at(found, places, seconds.requests)
    return found


def dispersion(requests: "Integers") -> float | None:
    """Variance / mean of counts, of whole windows: 1 for Poisson arrivals (Cox and Lewis, 1966).

    The variance is that of all windows (divided by their number). None where there are fewer than
    two windows or no requests in them.
    """
    number, total = len(requests), int(requests.sum())
    if number < 2 or not total:
        return None
    squares = int(requests @ requests)
    return (number * squares - total * total) / (number * total)


def _hours(minutes: "Integers", week_offset_s: int) -> tuple[int, ...]:
    import numpy as np

    places = (np.arange(len(minutes)) + week_offset_s // 60) % _WEEK_MINUTES // 60
    return tuple(int(each) for each in np.bincount(places, minutes, minlength=168).astype(np.int64))


def _bursts(requests: "Integers", total: int, covered: int) -> tuple[Burst, ...]:
    """Runs of 10 s windows that each have twice the mean and five Poisson deviations above it."""
    import numpy as np

    mean = total * _BURST_S / covered
    high = np.flatnonzero(requests >= max(2 * mean, mean + 5 * mean**0.5, 2))
    runs = np.split(high, np.flatnonzero(np.diff(high) > 1) + 1) if len(high) else []
    found = [
        Burst(
            start_s=int(run[0]) * _BURST_S,
            seconds=len(run) * _BURST_S,
            requests=int(requests[run].sum()),
            per_s=int(requests[run].sum()) / (len(run) * _BURST_S),
        )
        for run in runs
    ]
    return tuple(sorted(found, key=lambda each: (-each.requests, each.start_s))[:_MOST_BURSTS])
