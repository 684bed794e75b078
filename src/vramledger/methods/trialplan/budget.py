"""The time there is: until an hour of the day, for so many hours, for so much money."""

from datetime import datetime, timedelta
from math import inf, isfinite
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen

HOUR_S: Final = 3600.0


@frozen
class Budget:
    """`begins` is when the machine is there; `until` None where no hour ends it. `per_hour` is the price, 0 where none is stated.

    Moments are of one clock with its zone.
    """

    begins: datetime
    until: datetime | None = None
    hours: float | None = None
    most_cost: float | None = None
    per_hour: float = 0.0
    currency: str = ""

    @property
    def seconds(self) -> float:
        """What there is from the beginning on; infinite where nothing limits it."""
        by_clock = inf if self.until is None else (self.until - self.begins).total_seconds()
        by_hours = inf if self.hours is None else self.hours * HOUR_S
        by_cost = inf
        if self.most_cost is not None and self.per_hour > 0:
            by_cost = self.most_cost / self.per_hour * HOUR_S
        return max(min(by_clock, by_hours, by_cost), 0.0)

    @property
    def ends(self) -> datetime | None:
        """The moment by which the last trial has to be over; None where there is none."""
        return self.begins + timedelta(seconds=self.seconds) if isfinite(self.seconds) else None

    def cost_of(self, seconds: float) -> float:
        """Money for so long."""
        return seconds / HOUR_S * self.per_hour

    def has_room(self, now: datetime, takes_s: float) -> bool:
        """Whether what takes so long can begin now and still end in time."""
        ends = self.ends
        return ends is None or now + timedelta(seconds=takes_s) <= ends


def until_of(text: str, now: datetime) -> datetime:
    """The next moment of an hour of the day (``18:00``), or the one of an ISO date and time.

    Raises:
        BadInput: it is neither, or over.
    """
    try:
        if len(text) <= len("18:00") and ":" in text:
            hour, minute = (int(part) for part in text.split(":"))
            found = now.replace(hour=hour, minute=minute, second=0, microsecond=0)
            return found if found > now else found + timedelta(days=1)
        found = datetime.fromisoformat(text)
    except ValueError:
        raise BadInput(
            f"--until {text} is no moment; write 18:00 for the next time the clock says so, or 2026-12-02T18:00."
        ) from None
    found = found if found.tzinfo is not None else found.replace(tzinfo=now.tzinfo)
    if found <= now:
        raise BadInput(f"--until {text} is over; it is {now:%Y-%m-%dT%H:%M} now.")
    return found
