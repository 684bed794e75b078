"""Moments as logs write them, as whole nanoseconds since the epoch."""

import re
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final

from vramledger.workload.formats.format import Context
from vramledger.workload.raw import RowProblem

_ISO: Final = re.compile(
    r"\s*(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{1,12}))?\s*"
    r"(Z|UTC|[+-]\d\d:?\d\d|[+-]\d\d)?\s*"
)
_CLF: Final = re.compile(  # [10/Oct/2000:13:55:36 -0700]
    r"[\s\[]*(\d\d)/([A-Z][a-z]{2})/(\d{4}):(\d\d:\d\d:\d\d) ([+-]\d{4})[\s\]]*"
)
_MONTHS: Final = (
    "Jan",
    "Feb",
    "Mar",
    "Apr",
    "May",
    "Jun",
    "Jul",
    "Aug",
    "Sep",
    "Oct",
    "Nov",
    "Dec",
)
_EPOCH_UNITS: Final = (
    (1e17, 1, "nanoseconds"),
    (1e14, 10**3, "microseconds"),
    (1e11, 10**6, "milliseconds"),
)
_INFINITE: Final = re.compile(r"\s*[-+]?(nan|inf|infinity)\s*", re.IGNORECASE)
_NS: Final = 10**9


def moment_ns(value: Any, name: str, context: Context) -> int:
    """Nanoseconds since the epoch.

    The value is ISO 8601 text (up to 12 digits of a second), the access logs' own form, or a number
    since the epoch in seconds, milliseconds, microseconds or nanoseconds. Text without a time zone is in `context.time_zone_s`, UTC where that is None: assumed and said.

    Raises:
        RowProblem: missing, or no moment.
    """
    if isinstance(value, datetime):
        value = value.isoformat()
    if isinstance(value, str):
        text = _ISO.fullmatch(value)
        if text is not None:
            return _of_iso(text, name, context)
        if "/" in value:
            return _of_clf(value, name, context)
    return _of_number(value, name, context)


def _of_iso(text: "re.Match[str]", name: str, context: Context) -> int:
    day, time, fraction, zone = text.groups()
    nanoseconds = int(fraction.ljust(9, "0")[:9]) if fraction else 0
    return (_since_epoch_s(day, time, name) - _zone_s(zone, name, context)) * _NS + nanoseconds


def _since_epoch_s(day: str, time: str, name: str) -> int:
    """Seconds from the epoch to 2023-11-16 and 18:17:03 in UTC; a leap second is the one after it."""
    start = _day_s(day)
    hours, minutes, seconds = int(time[:2]), int(time[3:5]), int(time[6:])
    if start is None or hours > 23 or minutes > 59 or seconds > 60:
        raise RowProblem(f"{name} is no date")
    return start + hours * 3600 + minutes * 60 + seconds


@lru_cache(maxsize=64)
def _day_s(day: str) -> int | None:
    """Seconds from the epoch to the beginning of 2023-11-16 in UTC; None where there is no such day."""
    try:
        return round(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())
    except ValueError:
        return None


def _zone_s(zone: str | None, name: str, context: Context) -> int:
    """Seconds east of UTC."""
    if zone is None:
        if context.time_zone_s is None:
            context.assume("Times carry no time zone and are taken as UTC (assumed).")
            return 0
        return context.time_zone_s
    if zone in ("Z", "UTC"):
        return 0
    sign, digits = (-1 if zone[0] == "-" else 1), zone[1:].replace(":", "").ljust(4, "0")
    hours, minutes = int(digits[:2]), int(digits[2:])
    if hours > 23 or minutes > 59:
        raise RowProblem(f"{name} is no date")
    return sign * (hours * 3600 + minutes * 60)


def _of_clf(value: str, name: str, context: Context) -> int:
    text = _CLF.fullmatch(value)
    if text is None or text[2] not in _MONTHS:
        raise RowProblem(f"{name} is no date")
    day = f"{text[3]}-{_MONTHS.index(text[2]) + 1:02}-{text[1]}"
    return (_since_epoch_s(day, text[4], name) - _zone_s(text[5], name, context)) * _NS


def _of_number(value: Any, name: str, context: Context) -> int:
    """All decimal digits count: 1700000000.123 is that very moment."""
    from vramledger.workload.fields import number

    try:
        found = abs(number(value, name))
    except RowProblem:
        if not isinstance(value, str) or value == "" or _INFINITE.fullmatch(value):
            raise
        raise RowProblem(f"{name} is neither a date nor a number") from None
    exact = Decimal(str(value).strip())
    for least, factor, unit in _EPOCH_UNITS:
        if found >= least:
            context.infer(
                f"Times are numbers so large that they count {unit} since 1970 (inferred)."
            )
            return round(exact * factor)
    return round(exact * _NS)


def zone_of(text: str) -> timezone:
    """The zone an option states: "+02:00" or "UTC".

    Raises:
        ValueError: it is none.
    """
    if text.upper() in ("UTC", "Z"):
        return UTC
    found = re.fullmatch(r"([+-])(\d\d):?(\d\d)", text)
    if found is None:
        raise ValueError(text)
    sign = -1 if found[1] == "-" else 1
    return timezone(sign * timedelta(hours=int(found[2]), minutes=int(found[3])))
