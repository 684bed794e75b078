"""``restart@TIME:TIME``: after that time the server dies with all it has under way, and is back after the other."""

from typing import Final, Self

from vramledger.rehearse.faults.fault import Fault, Outage, seconds_of

_AWAY_S: Final = 3.0


class Restart(Fault):
    """Streams are reset, connections are refused for a while, and counters begin at 0."""

    form = "restart@TIME[:TIME]"

    def __init__(self, outage: Outage) -> None:
        self._outage = outage

    @classmethod
    def of(cls, argument: str) -> Self:
        """When, and for how long."""
        at, _, away = argument.partition(":")
        lasts = seconds_of(cls, away) if away else _AWAY_S
        return cls(Outage(seconds_of(cls, at), lasts))

    @property
    def outage(self) -> Outage:
        """Once."""
        return self._outage
