"""Fields of log records as numbers; a problem names the field and never quotes its value."""

from math import isfinite
from typing import Any, Final

from vramledger.workload.raw import RowProblem

MOST_TOKENS: Final = 1 << 30  # longer than any context


def whole_number(value: Any, name: str) -> int:
    """A count of 0 or more: 12, 12.0, "12" or "12.0".

    Raises:
        RowProblem: missing, no number, negative, not whole, or beyond any count.
    """
    found = number(value, name)
    if found < 0:
        raise RowProblem(f"{name} is negative")
    if found != int(found):
        raise RowProblem(f"{name} is not a whole number")
    if found > MOST_TOKENS:
        raise RowProblem(f"{name} is beyond any context")
    return int(found)


def number(value: Any, name: str) -> float:
    """A finite number, or text that is one.

    Raises:
        RowProblem: missing, or no finite number.
    """
    if value is None or value == "":
        raise RowProblem(f"{name} is missing")
    if isinstance(value, bool):
        raise RowProblem(f"{name} is not a number")
    try:
        found = value if isinstance(value, int | float) else float(value)
    except (TypeError, ValueError, OverflowError):
        raise RowProblem(f"{name} is not a number") from None
    if not isfinite(found):
        raise RowProblem(f"{name} is not a finite number")
    return found


def optional_whole_number(value: Any, name: str) -> int | None:
    """As `whole_number`, None where the field is absent or empty."""
    return None if value is None or value == "" else whole_number(value, name)
