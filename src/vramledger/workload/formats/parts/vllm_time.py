"""Moments of log lines that have no year."""

import re
from typing import Final

from vramledger.workload.formats.format import Context
from vramledger.workload.timestamps import moment_ns

_OWN: Final = re.compile(
    r"\b(?:INFO|WARNING|ERROR|DEBUG|CRITICAL) (\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))? "
)
_COLLECTED: Final = re.compile(
    r"^\s*(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d))\s"
)
_BEFORE: Final = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)  # days before each month
_DAY_NS: Final = 86_400 * 10**9
_NS: Final = 10**9


class YearlessClock:
    """Reads lines in order; December to January is a new year.

    A container's collector may have put its own stamp before each line ("2026-01-02T03:04:05.678Z"),
    which has year, zone and fractions: it is preferred, if the first line that has a time has it.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._collected: bool | None = None
        self._year_start_days = 0
        self._month = 0
        self._leap = False

    def moment_ns(self, line: str) -> int | None:
        """Nanoseconds since 1 January of the log's first year; None where the line has no time.

        Where a collector stamped the lines they count from the epoch.
        """
        stamp = _COLLECTED.match(line)
        own = _OWN.search(line)
        if self._collected is None and (stamp or own):
            self._collected = stamp is not None
        if self._collected:
            return None if stamp is None else moment_ns(stamp[1], "time of the line", self._context)
        return None if own is None else self._of_own(own)

    def _of_own(self, own: "re.Match[str]") -> int | None:
        month, day, hour, minute, second = (int(part) for part in own.groups()[:5])
        if not (1 <= month <= 12 and 1 <= day <= 31):
            return None
        self._context.assume(
            "Lines carry no year and no time zone: times count from the log's first day, without a "
            "day of the week (assumed)."
        )
        if self._month == 12 and month == 1:
            self._year_start_days += 366 if self._leap else 365
            self._leap = False
        self._month = month
        self._leap = self._leap or (month, day) == (2, 29)
        days = self._year_start_days + _BEFORE[month - 1] + day - 1 + (self._leap and month > 2)
        seconds = (hour * 60 + minute) * 60 + second
        return days * _DAY_NS + seconds * _NS + int((own[6] or "0").ljust(9, "0"))
