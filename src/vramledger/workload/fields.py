"""Fields of log records as numbers; a problem names the field and never quotes its value."""

import re
from math import isfinite
from typing import Any, Final

from vramledger.workload.raw import RowProblem

MOST_TOKENS: Final = 1 << 30  # longer than any context
SECOND: Final = 10**9  # in nanoseconds, as are the next
MILLISECOND: Final = 10**6
_PLAIN: Final = re.compile(r"[0-9]{1,9}").fullmatch
_LATEST_NS: Final = 9 * 10**18  # some 285 years: what 64 bits hold
_LONGEST_NS: Final = 1 << 60  # some 36 years


def whole_number(value: Any, name: str) -> int:
    """A count of 0 or more: 12, 12.0, "12" or "12.0".

    Raises:
        RowProblem: missing, no number, negative, not whole, or beyond any count.
    """
    plain = type(value) is int or (type(value) is str and _PLAIN(value) is not None)
    found = int(value) if plain else number(value, name)
    if found < 0:
        raise RowProblem(f"{name} is negative")
    if found != int(found):
        raise RowProblem(f"{name} is not a whole number")
    if found > MOST_TOKENS:
        raise RowProblem(f"{name} is beyond any context")
    return int(found)


def number(value: Any, name: str) -> float:
    """A finite number, or text that is one, in ASCII digits without separators.

    Raises:
        RowProblem: missing, or no finite number.
    """
    if value is None or value == "":
        raise RowProblem(f"{name} is missing")
    if isinstance(value, bool) or (
        isinstance(value, str) and ("_" in value or not value.isascii())
    ):
        raise RowProblem(f"{name} is not a number")
    try:
        found = value if isinstance(value, int | float) else float(value)
        finite = isfinite(found)
    except (TypeError, ValueError):
        raise RowProblem(f"{name} is not a number") from None
    except OverflowError:  # a whole number of hundreds of digits
        finite = False
    if not finite:
        raise RowProblem(f"{name} is not a finite number")
    return found


def optional_whole_number(value: Any, name: str) -> int | None:
    """As `whole_number`, None where the field is absent or empty."""
    return None if value is None or value == "" else whole_number(value, name)


def part(value: Any, name: str, whole: int | None, whole_name: str) -> int | None:
    """A count that is part of another, None where the field is absent or empty.

    Raises:
        RowProblem: no count, or more than the whole.
    """
    found = optional_whole_number(value, name)
    if found is not None and whole is not None and found > whole:
        raise RowProblem(f"{name} is more than {whole_name}")
    return found


def nanoseconds(value: Any, name: str, unit_ns: int) -> int:
    """A time in units of `unit_ns` nanoseconds, which may lie before the zero it counts from.

    Raises:
        RowProblem: missing, no finite number, or beyond 285 years.
    """
    found = number(value, name)
    if abs(found) * unit_ns > _LATEST_NS:
        raise RowProblem(f"{name} is beyond any clock")
    whole = int(found)
    return whole * unit_ns + round((found - whole) * unit_ns)


def optional_duration_ns(value: Any, name: str, unit_ns: int) -> int | None:
    """A length of time of 0 or more, None where the field is absent or empty.

    Raises:
        RowProblem: no finite number, negative, or beyond 36 years.
    """
    if value is None or value == "":
        return None
    found = nanoseconds(value, name, unit_ns)
    if found < 0:
        raise RowProblem(f"{name} is negative")
    if found > _LONGEST_NS:
        raise RowProblem(f"{name} is beyond any request")
    return found
