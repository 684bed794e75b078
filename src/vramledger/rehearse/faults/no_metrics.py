"""``no-metrics@TIME``: after that time the metrics page is gone, and everything else goes on."""

from typing import Self

from vramledger.rehearse.faults.fault import Fault, seconds_of


class NoMetrics(Fault):
    """A gateway hides it, or nobody collects it any more."""

    form = "no-metrics@TIME"

    def __init__(self, at_s: float) -> None:
        self._at_s = at_s

    @classmethod
    def of(cls, argument: str) -> Self:
        """When."""
        return cls(seconds_of(cls, argument))

    @property
    def metrics_until_s(self) -> float:
        """From the beginning of the server."""
        return self._at_s
