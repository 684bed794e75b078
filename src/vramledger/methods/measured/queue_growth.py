"""Whether the queue of a trial grows while its load is sent.

Two figures must both rise: the requests under way as the client sees them, which are arrivals less completions, and the
server's own count of waiting ones where it tells that. The beginning is left out, in which any load fills up: as long as
half of the requests take, and at most a third of the time. A rise counts where it is clear of its error (`statistics.trend`, one-sided, at 1 %) and comes to one
request and a twentieth of the mean over the time that was looked at.
"""

from typing import TYPE_CHECKING, Any, Final

from vramledger.frozen import frozen
from vramledger.methods.measured.levels import levels_told
from vramledger.statistics.trend import Trend, trend
from vramledger.trial.conduct.latencies import Measured
from vramledger.trial.conduct.steady import under_way

if TYPE_CHECKING:
    import numpy as np

    from vramledger.record.run import Run

    Floats = np.ndarray[Any, np.dtype[np.float64]]

WRONG: Final = 0.01  # the share of steady queues that a trend is found in by chance
_BINS: Final = 60
_SHARE: Final = 0.05
_FILLING: Final = 1 / 3


@frozen
class Growth:
    """Trends in requests a second; None where there is too little to tell. `grows` is None where neither is known."""

    under_way: Trend | None
    waiting: Trend | None

    @property
    def grows(self) -> bool | None:
        """Whether all that is known of it rises."""
        told = [each for each in (self.under_way, self.waiting) if each is not None]
        return all(map(_rises, told)) if told else None

    @property
    def said(self) -> str:
        """``+0.31 waiting a second (95 %: 0.12 to 0.50)``."""
        shown = self.waiting or self.under_way
        if shown is None:
            return "too little to tell"
        name = "waiting" if self.waiting is not None else "under way"
        return f"{shown.slope:+.3g} {name} a second ({shown.level:.0%}: {shown.low:.3g} to {shown.high:.3g})"


def _rises(found: Trend) -> bool:
    least = max(1.0, _SHARE * found.mean)
    return found.p_rises < WRONG and found.grown >= least


def queue_growth(run: "Run", found: Measured) -> Growth:
    """The growth of a trial's queue.

    Raises:
        BadInput: a table is damaged.
    """
    import numpy as np

    columns = found.columns
    sent = ~np.isnan(columns["dispatched_s"])
    if not sent.any():
        return Growth(None, None)
    begin, last = float(np.nanmin(columns["due_s"])), float(np.nanmax(columns["due_s"]))
    stayed = (columns["done_s"] - columns["due_s"])[~np.isnan(columns["done_s"])]
    filling = float(np.median(stayed)) if len(stayed) else 0.0
    begin += min(filling, (last - begin) * _FILLING)
    if not last > begin:
        return Growth(None, None)
    edges = np.linspace(begin, last, _BINS + 1)
    until = np.where(np.isnan(columns["done_s"]), np.inf, columns["done_s"])[sent]
    levels = under_way(columns["due_s"][sent], until, edges)
    return Growth(trend((edges[1:] + edges[:-1]) / 2, levels), _waiting(run, edges))


def _waiting(run: "Run", edges: "Floats") -> Trend | None:
    """Of means over the same parts of the time; parts without a page are left out."""
    import numpy as np

    histories = levels_told(run, "waiting")
    if not histories:
        return None
    values = np.nansum([each.values for each in histories], axis=0)
    t_s = histories[0].t_s
    part = np.searchsorted(edges, t_s, side="right") - 1
    inside = (part >= 0) & (part < _BINS)
    counts = np.bincount(part[inside], minlength=_BINS)
    sums = np.bincount(part[inside], values[inside], _BINS)
    told = counts > 0
    middles = (edges[1:] + edges[:-1]) / 2
    return trend(middles[told], sums[told] / counts[told])
