"""What would settle a line that is open: so many more requests, or so many more minutes of the same load."""

from math import ceil, inf, isfinite

from vramledger.methods.trialplan.needed import requests_needed

_NO_MARGIN = "the figure lies at its limit: no sensible number of requests decides it"


def more_requests(
    kept: float, counted: float, independent: float, share: float, confidence: float
) -> float | None:
    """How many more a share of those that keep a limit needs; infinite where no number does, None where nothing is known.

    `independent` are those that say as much, so that the correlation stays as it was.
    """
    if not counted or not independent:
        return None
    needed = requests_needed(kept / counted, share, confidence)
    if needed is None:
        return inf
    return max(ceil(needed * counted / independent - counted), 1)


def in_words(more: float | None, per_minute: float, what: str = "requests") -> str:
    """``1,200 more requests of this kind (about 20 minutes of this load)``."""
    if more is None:
        return "a longer run of the same load"
    if not isfinite(more):
        return _NO_MARGIN
    minutes = f" (about {more / per_minute:,.0f} minutes of this load)" if per_minute > 0 else ""
    return f"{more:,.0f} more {what}{minutes}"


def longer(span_s: float, reach: float, distance: float, power: float = 2.0) -> str:
    """A run so much longer that an interval which narrows with its length^(1/power) leaves the limit out."""
    if not isfinite(reach) or not distance > 0:
        return _NO_MARGIN if distance <= 0 else "a longer run of the same load"
    minutes = span_s / 60 * (reach / distance) ** power
    return f"{max(minutes - span_s / 60, 1 / 60):,.1f} more minutes of the same load"
