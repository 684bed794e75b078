"""Numbers as reports print them."""

from typing import Final


def rounded(value: float | None, digits: int = 4) -> float | None:
    """The value to a few decimals, None where there is none."""
    return None if value is None else round(value, digits)


def span(low: float, value: float, high: float) -> str:
    """``8`` for a sharp figure, ``8 (4..12)`` for one with a band."""
    shown = f"{value:,.0f}"
    return shown if low == high else f"{shown} ({low:,.0f}..{high:,.0f})"


def tokens(value: float) -> str:
    """``1,469`` or, for a percentile between two lengths, ``1,469.5``."""
    return f"{value:,.1f}".removesuffix(".0")


def share(value: float) -> str:
    """``5.2%``; what is there but would round to nothing is ``<0.1%``."""
    return "<0.1%" if 0 < value < 0.0005 else f"{value:.1%}"


def share_of(part: int, whole: int) -> str:
    """As `share`; of nothing it is nothing."""
    return share(part / whole) if whole else ""


def rate(per_s: float) -> str:
    """Requests a second, to three digits: ``5.53/s``, ``0.0231/s``."""
    return f"{per_s:,.0f}/s" if per_s >= 1000 else f"{per_s:.3g}/s"


def duration(seconds: float) -> str:
    """The two largest units: ``58 min 22 s``, ``26 h 10 min``; below a minute ``12.5 s``."""
    if seconds < 60:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    _, size, unit, smaller, rest = next(row for row in _UNITS if whole >= row[0])
    left = whole % size // smaller
    return f"{whole // size} {unit}" + (f" {left} {rest}" if left else "")


_UNITS: Final[tuple[tuple[int, int, str, int, str], ...]] = (  # from how many seconds on, units
    (172_800, 86_400, "d", 3_600, "h"),
    (3_600, 3_600, "h", 60, "min"),
    (0, 60, "min", 1, "s"),
)
