"""How far the simulation is behind the clock, and when that has to be said."""

import time
from collections.abc import Callable
from typing import Final

_WINDOW_NS: Final = 5_000_000_000
_BEHIND_S: Final = 0.1
_SAID_EVERY_NS: Final = 10_000_000_000


class Lag:
    """The largest delay of the last five to ten seconds; says so where it is a tenth of a second or more.

    `now` is CLOCK_MONOTONIC in nanoseconds.
    """

    def __init__(
        self, say: Callable[[str], None], now: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._say, self._now = say, now
        self._window_ns = self._now()
        self._current = self._before = 0.0
        self._said_ns: int | None = None

    @property
    def seconds(self) -> float:
        """The largest delay lately."""
        self._turn()
        return max(self._current, self._before)

    def late(self, seconds: float) -> None:
        """Something happened so long after its time."""
        if seconds <= self._current and self._now() - self._window_ns < _WINDOW_NS:
            return
        self._turn()
        self._current = max(self._current, seconds)
        if seconds >= _BEHIND_S and self._may_say():
            self._say(
                f"The rehearsal is {seconds:.2f} s behind its own time, so that latencies are longer than simulated; "
                "lower the load or --speed, or give it a core of its own."
            )

    def _turn(self) -> None:
        age = self._now() - self._window_ns
        if age >= _WINDOW_NS:
            self._before = self._current if age < 2 * _WINDOW_NS else 0.0
            self._current = 0.0
            self._window_ns = self._now()

    def _may_say(self) -> bool:
        now = self._now()
        if self._said_ns is not None and now - self._said_ns < _SAID_EVERY_NS:
            return False
        self._said_ns = now
        return True
