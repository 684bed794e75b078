"""By how much a line of a contract is kept, so that lines of different units can be held against each other.

A limit from above leaves ``1 - value / limit``, one from below ``value / limit - 1``. A share that must be near 1 is nearly always close
to its limit; it leaves ``(value - limit) / (1 - limit)``, the part of the failures allowed that did not come. Below 0 a limit is broken.
"""

from math import inf, isfinite
from typing import Final

from vramledger.accept.verdict import Line, Said
from vramledger.frozen import frozen

_SHARE: Final = "0..1"
_AN_HOUR: Final = " requests an hour"


@frozen
class Margin:
    """Of one line; `low` and `high` from the ends of its interval, infinite where the sample leaves one open."""

    line: str
    said: Said
    value: float
    low: float
    high: float


def margin_of(scenario: str, line: Line) -> Margin | None:
    """None of a line without a figure or a limit to hold it against, and of one that this form of buying never shows."""
    limit, value = line.threshold, line.value
    if limit is None or value is None or not limit or line.said is Said.NOT_JUDGEABLE:
        return None
    at_least = " >= " in line.name or line.name.endswith(_AN_HOUR)
    if not at_least and " <= " not in line.name:
        return None
    ends = [
        _left(end, limit, at_least=at_least, share=line.unit == _SHARE)
        for end in (line.low, line.high)
        if end is not None
    ] or [-inf, inf]
    left = _left(value, limit, at_least=at_least, share=line.unit == _SHARE)
    return Margin(f"{scenario}: {line.name}", line.said, left, min(ends), max(ends))


def _left(value: float, limit: float, *, at_least: bool, share: bool) -> float:
    if not isfinite(value):
        return value if at_least else -value
    if at_least and share and limit < 1:
        return (value - limit) / (1 - limit)
    return value / limit - 1 if at_least else 1 - value / limit


def left(value: float) -> str:
    """A margin in words: ``64.8% of the limit left``, ``3.2 times the limit beyond it``."""
    if not isfinite(value):
        return "beyond every limit" if value < 0 else "all of the limit left"
    if value >= 0:
        return f"{value:.1%} of the limit left"
    return (
        f"{-value:.1%} of the limit beyond it"
        if value > -1
        else f"{-value:.1f} times the limit beyond it"
    )
