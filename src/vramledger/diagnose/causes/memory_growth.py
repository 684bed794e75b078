"""Memory grows: it rises as steadily at the end of the run as in its middle, which no cache that fills up does."""

from collections.abc import Sequence

import numpy as np

from vramledger.diagnose.hypothesis import Cause, NextChange
from vramledger.diagnose.picture import Picture
from vramledger.diagnose.sign import Sign, ramp
from vramledger.frozen import frozen
from vramledger.statistics.trend import trend
from vramledger.units import GIB

_SETTLING = 0.2  # of the run, at its beginning: caches fill
_WRONG = 0.001
_SERIES = (
    ("gpu_ours", "the server's memory on the GPU", 0.004),
    ("gpu_used", "the GPU's memory in use", 0.004),
    ("process_resident_bytes", "the server's host memory", 0.03),
)  # fmt: skip


@frozen
class _Growth:
    """A series that grows: by how much of its mean, per hour in bytes, and how the later half compares with the earlier."""

    what: str
    share: float
    per_hour: float
    later: float
    sure: bool
    rising: float
    clear: float  # the part of its mean from which it matters


def _growths(picture: Picture) -> list[_Growth]:
    found = []
    middles = picture.evidence.windows.middles_s
    for name, what, clear in _SERIES:
        values = picture.evidence.of(name)
        cut = int(len(values) * _SETTLING)
        t_s, kept = middles[cut:], values[cut:]
        line = trend(t_s, kept)
        if line is None or not line.mean > 0:
            continue
        told = kept[np.isfinite(kept)]
        half = len(told) // 2
        first, second = told[half] - told[0], told[-1] - told[half]
        later = float(second / first) if first > 0 else (np.inf if second > 0 else 0.0)
        steps = np.diff(told)
        moved = steps[steps != 0]
        rising = float((moved > 0).mean()) if len(moved) else 0.0
        found.append(_Growth(what, line.grown / line.mean, line.slope * 3600, later, line.p_rises < _WRONG, rising, clear))  # fmt: skip
    return found


def _signs(picture: Picture) -> Sequence[Sign]:
    growths = _growths(picture)
    if not growths:
        return (Sign("No memory figures of the server were seen over the run.", None, needed=True),)
    worst = max(growths, key=lambda each: (each.sure, each.share / each.clear))
    rate = (
        f"{worst.per_hour / GIB:.2f} GiB an hour"
        if abs(worst.per_hour) > 0.1 * GIB
        else f"{worst.per_hour / (1 << 20):.1f} MiB an hour"
    )
    sure = "clear of its error" if worst.sure else "not clear of its error"
    return (
        Sign(
            f"{worst.what[0].upper()}{worst.what[1:]} changes by {rate}, {worst.share:+.2%} of it over the run, {sure}.",
            ramp(worst.share, worst.clear * 0.4, worst.clear) if worst.sure else 0.0,
            needed=True,
        ),
        Sign(
            f"The later half of the time brings {min(worst.later, 99):.1f} times the growth of the earlier half.",
            ramp(worst.later, 0.2, 0.5) if worst.later <= 1 else ramp(worst.later, 8.0, 3.0),
            needed=True,
        ),
        Sign(
            f"Of the changes from window to window, {worst.rising:.0%} go up.",
            ramp(worst.rising, 0.5, 0.8),
        ),
    )


def _change(picture: Picture) -> NextChange:
    del picture
    return NextChange(
        "Run the same load for some hours (vram trial soak), which tells a leak from a cache that fills; then the same with one feature off."
    )


CAUSE = Cause("D09", "memory_growth", "Slow growth of memory", _signs, _change, harms=False)
