"""Simulated time beside the machine's monotonic clock."""

import time

from vramledger.frozen import frozen


@frozen
class Clock:
    """Simulated nanoseconds run from `zero_ns` of CLOCK_MONOTONIC, `speed` times as fast as it."""

    zero_ns: int
    speed: float = 1.0

    @property
    def now(self) -> int:
        """The simulated time at this moment."""
        return self.simulated(time.monotonic_ns())

    def simulated(self, monotonic_ns: int) -> int:
        """The simulated time then."""
        return int((monotonic_ns - self.zero_ns) * self.speed)

    def monotonic(self, simulated_ns: int) -> int:
        """When CLOCK_MONOTONIC has reached that simulated time: not before it."""
        return self.zero_ns + int(-(-simulated_ns // self.speed))

    def seconds(self, simulated_ns: int) -> float:
        """How long a simulated stretch lasts for those who watch."""
        return simulated_ns / self.speed / 1e9


def starting_now(speed: float) -> Clock:
    """A clock that is at 0."""
    return Clock(time.monotonic_ns(), speed)
