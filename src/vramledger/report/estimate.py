"""An estimate with its interval, in words."""

from collections.abc import Callable
from typing import Final

from vramledger.methods.shadow.intervals import Estimate

_UNKNOWN: Final = "not known"


def banded(found: Estimate, show: Callable[[float], str]) -> str:
    """An estimate with its interval."""
    if found.value is None:
        return "not reached" if found.low is None else f"beyond {show(found.low)}"
    low = show(found.low) if found.low is not None else _UNKNOWN
    high = show(found.high) if found.high is not None else _UNKNOWN
    return f"{show(found.value)} ({low}..{high})"


def percent(value: float) -> str:
    """A share."""
    return f"{value:.2%}"


def nats(value: float) -> str:
    """A divergence."""
    return f"{value:.4f}"
