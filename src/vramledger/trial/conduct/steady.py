"""Which part of a trial is steady: found from the requests under way, not assumed.

The start is cut by MSER-5: means of five over the number under way, and of all beginnings that could be left out the one
after which the standard error of the mean is least (K. P. White, M. J. Cobb and S. C. Spratt, "A comparison of five
steady-state truncation heuristics for simulation", Proceedings of the 2000 Winter Simulation Conference, 755-760; the
statistic is K. P. White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69, 1997,
323-334). At most half is left out. Where what remains still rises or falls (`drifts`), there is no steady state in what was
seen: a load that grows, for one.

The end is cut where the load stops: at the last request's due time less the median time of a request, so that half of
those that are due by then end before the load drains.
"""

from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

METHOD: Final = (
    "MSER-5 on the requests under way; the end where the load stops, less a median request"
)
_BATCHES: Final = 100
_A_BATCH: Final = 5
_FEWEST: Final = 20  # requests due in it
_GROUPS: Final = 10
_SHARE: Final = 0.2
_ERRORS: Final = 3.0


@frozen
class Steady:
    """From when to when, in seconds of the run; both None where there is none, and `why` is a clause that says so."""

    from_s: float | None
    to_s: float | None
    why: str = ""

    @property
    def found(self) -> bool:
        """Whether there is a steady part."""
        return self.from_s is not None


def steady_part(due_s: "Floats", dispatched_s: "Floats", done_s: "Floats") -> Steady:
    """The steady part of a load of which these are the requests, NaN where something did not happen."""
    import numpy as np

    if len(due_s) < _FEWEST or np.isnan(dispatched_s).all():
        return _none(f"fewer than {_FEWEST} requests were sent")
    begin, last = float(np.nanmin(dispatched_s)), float(np.nanmax(due_s))
    times = (done_s - due_s)[~np.isnan(done_s)]
    end = last - (float(np.median(times)) if len(times) else 0.0)
    if end - begin <= (last - begin) / 2:
        return _none("the load was over before half of its first requests had ended")
    sent = ~np.isnan(dispatched_s)
    until = np.where(np.isnan(done_s), np.inf, done_s)[sent]
    levels = under_way(dispatched_s[sent], until, np.linspace(begin, end, _BATCHES * _A_BATCH + 1))
    means = levels.reshape(_BATCHES, _A_BATCH).mean(axis=1)
    cut = mser(means)
    if drifts(means[cut:]):
        return _none("the number of requests under way went on to rise or to fall")
    from_s = begin + (end - begin) * cut / _BATCHES
    if int(((due_s >= from_s) & (due_s <= end)).sum()) < _FEWEST:
        return _none(f"fewer than {_FEWEST} requests were due in it")
    return Steady(from_s, end)


def under_way(from_s: "Floats", to_s: "Floats", edges: "Floats") -> "Floats":
    """The mean number of requests under way between each edge and the next; `to_s` may be infinite."""
    import numpy as np

    def passed(moments: "Floats") -> "Floats":
        """Over all moments, the sum of the seconds since, at each edge."""
        ordered = np.sort(moments[np.isfinite(moments)])
        sums = np.concatenate(([0.0], np.cumsum(ordered)))
        count = np.searchsorted(ordered, edges, side="right")
        return edges * count - sums[count]

    widths = np.diff(edges)
    found: Floats = np.diff(passed(from_s) - passed(to_s)) / widths
    return found


def mser(means: "Floats") -> int:
    """How many values to leave out at the beginning, at most half of them."""
    import numpy as np

    backwards = means[::-1]
    counts = np.arange(1, len(means) + 1)
    averages = np.cumsum(backwards) / counts
    spread = np.maximum(np.cumsum(backwards**2) - counts * averages**2, 0.0)
    statistic = (spread / counts.astype(float) ** 2)[::-1]  # by how many are left out
    return int(np.argmin(statistic[: len(means) // 2 + 1]))


def drifts(means: "Floats") -> bool:
    """Whether the second half lies apart from the first: by a fifth, and by three standard errors of the difference.

    Errors are those of ten means a half, so that what is alike in neighbours counts once. The test is Geweke's, between halves
    (J. Geweke, "Evaluating the accuracy of sampling-based approaches to the calculation of posterior moments", 1992).
    """
    import numpy as np

    first, second = np.array_split(means, 2)
    difference = abs(float(second.mean() - first.mean()))
    error = float(np.hypot(_error_of_mean(first), _error_of_mean(second)))
    return difference > _SHARE * float(means.mean()) and difference > _ERRORS * error


def _error_of_mean(values: "Floats") -> float:
    import numpy as np

    groups = np.array([part.mean() for part in np.array_split(values, _GROUPS)])
    return float(groups.std(ddof=1)) / float(np.sqrt(_GROUPS))


def _none(why: str) -> Steady:
    return Steady(None, None, why)
