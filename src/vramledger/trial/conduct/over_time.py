"""Rates and levels over a span of time as distributions: each value counts as long as it lasted.

The formulas are GuideLLM's (https://github.com/vllm-project/guidellm, `schemas/base/statistics.py`): a moment with
events has the rate of its events over the time nearer to it than to any other moment; a level lasts until it changes.
"""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from vramledger.trial.conduct.detail import Detail, weighted_detail

if TYPE_CHECKING:
    import numpy as np

    Floats = np.ndarray[Any, np.dtype[np.float64]]

Span: TypeAlias = tuple[float, float]
ONE_MOMENT_S: Final = 1e-4


def rate_detail(times_s: "Floats", counts: "Floats", span: Span) -> Detail | None:
    """What happens in a second: at each of these times so much of it; None of nothing or an empty span.

    What lies within one grid cell of 0.1 ms is one moment (GuideLLM's cells begin at their first event), and what lies no
    further outside the span belongs to it. The mean is everything in the span over its length.
    """
    import numpy as np

    since = times_s - span[0]
    inside = (since >= -ONE_MOMENT_S) & (times_s <= span[1] + ONE_MOMENT_S)
    if span[1] - span[0] <= ONE_MOMENT_S or not inside.any():
        return None
    cells = np.floor(since[inside].clip(min=0) / ONE_MOMENT_S)
    found, places = np.unique(cells, return_inverse=True)
    happened = np.bincount(places, counts[inside])
    moments = (found * ONE_MOMENT_S).clip(max=span[1] - span[0])
    times = np.concatenate(([0.0], moments, [span[1] - span[0]]))
    lasts = _nearest(times)
    rates = np.divide(happened, lasts[1:-1], out=np.zeros(len(happened)), where=lasts[1:-1] > 0)
    return weighted_detail(
        np.concatenate(([0.0], rates, [0.0])), lasts, round(float(happened.sum()))
    )


def level_detail(starts_s: "Floats", ends_s: "Floats", span: Span) -> Detail | None:
    """How many intervals are open at once; its count is how many there are. None of nothing or an empty span."""
    import numpy as np

    kept = (ends_s >= span[0]) & (starts_s <= span[1])
    if span[1] <= span[0] or not kept.any():
        return None
    starts, ends = starts_s[kept].clip(min=span[0]), ends_s[kept].clip(max=span[1])
    times = np.concatenate((span[:1], starts, ends))
    changes = np.concatenate(([0.0], np.ones(len(starts)), -np.ones(len(ends))))
    order = np.argsort(times, kind="stable")
    levels = np.cumsum(changes[order])
    lasts = np.diff(np.append(times[order], span[1]))
    return weighted_detail(levels, lasts, len(starts))


def _nearest(times: "Floats") -> "Floats":
    """The time that is nearer to each of these rising times than to any other."""
    import numpy as np

    edges = np.concatenate((times[:1], (times[1:] + times[:-1]) / 2, times[-1:]))
    lasts: Floats = np.diff(edges)
    return lasts
