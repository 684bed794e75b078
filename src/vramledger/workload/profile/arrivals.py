"""When requests come: rates, dispersion, bursts, from the requests of whole seconds."""

from typing import TYPE_CHECKING, Any, Final

from vramledger.workload.profile.profile import Arrival, Burst
from vramledger.workload.scenarios import Seconds

if TYPE_CHECKING:
    import numpy as np

    Integers = np.ndarray[Any, np.dtype[np.int64]]
    Counts = np.ndarray[Any, np.dtype[Any]]

STEPS_S: Final = (60, 300, 900, 3_600, 10_800)  # of a rate curve; each divides the next
MOST_STEPS: Final = 20_160  # two weeks of minutes
_BURST_S: Final = 10
_MOST_BURSTS: Final = 20
_WEEK_MINUTES: Final = 7 * 24 * 60


def arrival(
    steps: Seconds,
    squares: int,
    most: int,
    busy: int,
    times: tuple[float, float],
    week_offset_s: int | None,
) -> Arrival:
    """The figures of a profile.

    Args:
        steps: all steps with an arrival; 10 s are whole steps.
        squares: the squares of the requests of every second, added up.
        most: the most requests of a second.
        busy: the seconds with an arrival.
        times: of the first and the last arrival, in seconds.
        week_offset_s: seconds from Monday 00:00 to second 0; None without a clock.
    """
    covered, total = int(times[1]) + 1, int(steps.requests.sum())
    tens, minutes = counts(steps, _BURST_S), counts(steps, 60)
    found = {
        "1": dispersion(covered, total, squares),
        "10": _dispersion(tens[: covered // 10]),
        "60": _dispersion(minutes[: covered // 60]),
    }
    step_s = step_of(len(minutes))
    return Arrival(
        span_s=times[1] - times[0],
        mean_per_s=total / covered,
        peak_per_s=most,
        dispersion={window: value for window, value in found.items() if value is not None},
        empty={
            "1": covered - busy,
            "10": int((tens[: covered // 10] == 0).sum()),
            "60": int((minutes[: covered // 60] == 0).sum()),
        },
        per_step=tuple(int(each) for each in together(minutes, step_s // 60)),
        step_s=step_s,
        hour_of_week=() if week_offset_s is None else _hours(minutes, week_offset_s),
        bursts=_bursts(tens, total, covered),
    )


def counts(steps: Seconds, window_s: int) -> "Integers":
    """Requests in each window (a multiple of the steps) from second 0 to the last arrival's."""
    import numpy as np

    places = steps.second // window_s
    return np.bincount(places, steps.requests).astype(np.int64)  # exact: floats below 2^53


def step_of(minutes: int) -> int:
    """The step in seconds that a rate curve of so many minutes has: at most `MOST_STEPS` of them.

    Beyond what the widest holds, some seven years, there are more.
    """
    return next((step for step in STEPS_S if 60 * minutes <= step * MOST_STEPS), STEPS_S[-1])


def together(counts: "Counts", windows: int) -> "Counts":
    """Counts of so many windows together; the last may be of fewer."""
    import numpy as np

    found: Counts = np.add.reduceat(counts, np.arange(0, len(counts), windows))
    return found


def dispersion(windows: int, total: int, squares: int) -> float | None:
    """Variance / mean of counts: 1 for Poisson arrivals (Cox and Lewis, 1966, the index of dispersion).

    The variance is that of all windows (divided by their number). None where there are fewer than
    two windows or no requests in them.

    Args:
        windows: whole windows.
        total: requests in them.
        squares: of the requests of each, added up.
    """
    if windows < 2 or not total:
        return None
    return (windows * squares - total * total) / (windows * total)


def _dispersion(requests: "Integers") -> float | None:
    return dispersion(len(requests), int(requests.sum()), int(requests @ requests))


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
