"""An estimate with its interval, as JSON."""

from typing import Any, Final

from vramledger.methods.shadow.intervals import Estimate
from vramledger.report.number import rounded

DIGITS: Final = 6


def estimate(found: Estimate, basis: str, source: str) -> dict[str, Any]:
    """A figure with its interval, or why there is none."""
    if found.value is None:
        return {"value": None, "low": rounded(found.low), "high": None, "reason": found.reason}
    value, low, high = (rounded(each, DIGITS) for each in (found.value, found.low, found.high))
    return {"value": value, "low": low, "high": high, "basis": basis, "source": source}
