"""Whether the queue of a run drains: trends of what waits, arrivals against completions, and Little's law beside them.

The client's backlog is what arrived less what ended; the server's queue is what it says is waiting. Both are taken over equal parts of
the time in which the load came. Everything is judged by slopes whose error allows for neighbours being alike (`statistics.trend`):

    grows       by `queue_growth`: all that is known of the queue rises, clear of its error
    drains      the server's queue was empty at some moment of the last tenth of the load, or the backlog fell from its peak, clear of its
                error, or what is known of its slope leaves no room for a growth of `GROWTH` of the arrivals
    cannot tell anything else

Little's law, L = lambda W (J. D. C. Little, Operations Research 9, 1961, 383-387), has the requests that the server says it holds on one side,
and the client's arrivals and times on the other: a residual far from 0 says that the server also held requests of somebody else, or that one of
the two counted wrongly.
"""

from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING, Any, Final

from vramledger.accept.offered import Offered
from vramledger.frozen import frozen
from vramledger.methods.measured.levels import levels_told
from vramledger.methods.measured.queue_growth import Growth, queue_growth
from vramledger.statistics.trend import Trend, trend
from vramledger.trial.conduct.steady import under_way

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

GROWTH: Final = 0.1  # of the arrivals: a server that serves nine of ten; assumed
WRONG: Final = 0.01  # the share of steady queues that are called falling by chance
_BINS: Final = 60
_LAST_PART: Final = 0.9


class Course(StrEnum):
    """What a queue does."""

    DRAINS = "drains"
    GROWS = "grows without bound"
    OPEN = "cannot tell"


@frozen
class Queue:
    """Slopes are in requests a second.

    `minutes` is how long it takes to drain from where it stood at the end of the load, 0 where it was empty, None where that is unknown.
    `residual` is the server's own count over Little's, less 1; None where the server does not tell.
    """

    course: Course
    minutes: float | None
    growth: Growth
    falling: Trend | None
    arrivals_per_s: float
    completions_per_s: float
    emptied: bool | None
    residual: float | None

    @property
    def shown(self) -> Trend | None:
        """The slope that was held: of the server's queue where it tells, else of the client's backlog."""
        return self.growth.waiting or self.growth.under_way


def queue_of(offered: Offered) -> Queue:
    """The queue of a run.

    Raises:
        BadInput: a table is damaged.
    """
    import numpy as np

    growth = queue_growth(offered.run, offered.found)
    due, done = offered.due_s, offered.found.columns["done_s"]
    sent = offered.sent_s
    ended = done[~np.isnan(done)]
    completed = int((ended <= due[-1]).sum()) if len(due) else 0
    waiting = _waiting(offered)
    emptied = None if waiting is None else _emptied(waiting.t_s, waiting.values, float(due[-1]))
    falling = _falling(offered)
    seen = _Seen(emptied, falling)
    course = _course(growth, seen, len(due) / sent if sent else 0.0)
    return Queue(
        course=course,
        minutes=_minutes(course, seen, waiting),
        growth=growth,
        falling=falling,
        arrivals_per_s=len(due) / sent if sent else 0.0,
        completions_per_s=completed / sent if sent else 0.0,
        emptied=emptied,
        residual=_residual(offered),
    )


@frozen
class _Series:
    t_s: "Floats"
    values: "Floats"


@frozen
class _Seen:
    emptied: bool | None
    falling: Trend | None


def _course(growth: Growth, seen: "_Seen", arrivals_per_s: float) -> Course:
    falling = seen.falling
    if growth.grows and not seen.emptied:
        return Course.GROWS
    if seen.emptied:
        return Course.DRAINS
    if falling is not None and _p_falls(falling) < WRONG and falling.grown <= -1:
        return Course.DRAINS
    told = [each for each in (growth.waiting, growth.under_way) if each is not None]
    if told and all(each.high < GROWTH * arrivals_per_s for each in told) and not growth.grows:
        return Course.DRAINS
    return Course.OPEN


def _p_falls(found: Trend) -> float:
    return 1 - found.p_rises


def _minutes(course: Course, seen: "_Seen", waiting: "_Series | None") -> float | None:
    """From its level at the end of the load, at the slope it falls with."""
    if course is not Course.DRAINS:
        return None
    falling = seen.falling
    if seen.emptied:
        return 0.0
    if falling is None or falling.slope >= 0:
        return None
    level = falling.mean + falling.grown / 2 if waiting is None else float(waiting.values[-1])
    return max(level, 0.0) / -falling.slope / 60


def _falling(offered: Offered) -> Trend | None:
    """Of the client's backlog from its peak on; None where the peak is near the end."""
    import numpy as np

    due, done = offered.due_s, offered.found.columns["done_s"]
    if not offered.sent_s:
        return None
    edges = np.linspace(float(due[0]), float(due[-1]), 2 * _BINS + 1)
    levels = under_way(due, np.where(np.isnan(done), inf, done), edges)
    peak = int(np.argmax(levels))
    middles = (edges[1:] + edges[:-1]) / 2
    return trend(middles[peak:], levels[peak:])


def _waiting(offered: Offered) -> "_Series | None":
    """The server's queue at each page while the load came."""
    import numpy as np

    if not len(offered.due_s):
        return None
    histories = levels_told(offered.run, "waiting")
    if not histories:
        return None
    values = np.nansum([each.values for each in histories], axis=0)
    t_s = histories[0].t_s
    inside = (t_s >= offered.due_s[0]) & (t_s <= offered.due_s[-1])
    return _Series(t_s[inside], values[inside]) if inside.any() else None


def _emptied(t_s: "Floats", values: "Floats", last_s: float) -> bool:
    """Whether nothing waited at some moment of the last tenth of the load."""
    late = t_s >= t_s[0] + (last_s - t_s[0]) * _LAST_PART
    return bool((values[late] <= 0).any())


def _residual(offered: Offered) -> float | None:
    """The mean of what the server held over what the client's arrivals and times come to, less 1."""
    import numpy as np

    if not offered.sent_s:
        return None
    held = [levels_told(offered.run, name) for name in ("running", "waiting")]
    if not held[0]:
        return None
    t_s = held[0][0].t_s
    total = sum(np.nansum([each.values for each in rows], axis=0) for rows in held if rows)
    due, done = offered.due_s, offered.found.columns["done_s"]
    inside = (t_s >= due[0]) & (t_s <= due[-1])
    sent = offered.found.columns["dispatched_s"]
    told = ~np.isnan(done) & ~np.isnan(sent)
    if not inside.any() or not told.any():
        return None
    stays = np.minimum(done[told], due[-1]) - np.minimum(sent[told], due[-1])
    expected = float(np.maximum(stays, 0.0).sum()) / offered.sent_s
    return float(np.mean(np.asarray(total)[inside])) / expected - 1 if expected else None
