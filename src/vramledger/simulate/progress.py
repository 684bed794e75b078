"""How far a simulation is, for whoever waits for it."""

from collections.abc import Callable
from typing import Protocol, TypeAlias, runtime_checkable

Progress: TypeAlias = Callable[[int, int], None]  # requests that have ended, and all
Ended: TypeAlias = Callable[
    [int, int], None
]  # requests that have ended, and the simulated nanoseconds


@runtime_checkable
class TellsTime(Protocol):
    """A progress that also shows the simulated time."""

    def at(self, now_ns: int) -> None:
        """The clock of the engine that is simulated now."""


def with_clock(progress: Progress, ended: Callable[[int], None]) -> Ended:
    """What takes both, and tells the time where the progress shows it."""
    shown: object = progress
    at = shown.at if isinstance(shown, TellsTime) else None

    def told(requests: int, now_ns: int) -> None:
        if at is not None:
            at(now_ns)
        ended(requests)

    return told
