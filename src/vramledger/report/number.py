"""Numbers as reports print them."""


def rounded(value: float | None, digits: int = 4) -> float | None:
    """The value to a few decimals, None where there is none."""
    return None if value is None else round(value, digits)


def span(low: float, value: float, high: float) -> str:
    """``8`` for a sharp figure, ``8 (4..12)`` for one with a band."""
    shown = f"{value:,.0f}"
    return shown if low == high else f"{shown} ({low:,.0f}..{high:,.0f})"
