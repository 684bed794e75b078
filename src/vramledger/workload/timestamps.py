"""Moments as logs write them, as whole nanoseconds since the epoch."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Final

from vramledger.workload.formats.format import Context
from vramledger.workload.raw import RowProblem

_ISO: Final = re.compile(
    r"\s*(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,12}))?\s*"
    r"(Z|UTC|[+-]\d\d:?\d\d|[+-]\d\d)?\s*"
)
_CLF: Final = "%d/%b/%Y:%H:%M:%S %z"  # [10/Oct/2000:13:55:36 -0700]
_EPOCH_UNITS: Final = (
    (1e17, 1, "nanoseconds"),
    (1e14, 10**3, "microseconds"),
    (1e11, 10**6, "milliseconds"),
)
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
            return _of_clf(value, name)
    return _of_number(value, name, context)


def _of_iso(text: "re.Match[str]", name: str, context: Context) -> int:
    *parts, fraction, zone = text.groups()
    try:
        whole = datetime(*(int(part) for part in parts), tzinfo=UTC)  # type: ignore[misc,arg-type]
    except ValueError:
        raise RowProblem(f"{name} is no date") from None
    seconds = round((whole - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds())
    nanoseconds = int((fraction or "0").ljust(9, "0")[:9])
    return (seconds - _zone_s(zone, context)) * _NS + nanoseconds


def _zone_s(zone: str | None, context: Context) -> int:
    """Seconds east of UTC."""
    if zone is None:
        if context.time_zone_s is None:
            context.assume("Times carry no time zone and are taken as UTC (assumed).")
            return 0
        return context.time_zone_s
    if zone in ("Z", "UTC"):
        return 0
    sign, digits = (-1 if zone[0] == "-" else 1), zone[1:].replace(":", "").ljust(4, "0")
    return sign * (int(digits[:2]) * 3600 + int(digits[2:]) * 60)


def _of_clf(value: str, name: str) -> int:
    try:
        found = datetime.strptime(value.strip(" []"), _CLF)  # noqa: DTZ007 - the format has %z
    except ValueError:
        raise RowProblem(f"{name} is no date") from None
    return round(found.timestamp()) * _NS


def _of_number(value: Any, name: str, context: Context) -> int:
    from vramledger.workload.fields import number

    try:
        exact = int(value)
    except (TypeError, ValueError, OverflowError):
        exact = None
    found = number(value, name)
    for least, factor, unit in _EPOCH_UNITS:
        if abs(found) >= least:
            context.assume(
                f"Times are numbers so large that they count {unit} since 1970 (inferred)."
            )
            return exact * factor if exact is not None and exact == found else round(found * factor)
    whole = int(found)
    return whole * _NS + round((found - whole) * 1e9)


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
