"""A wake-up at a time of the monotonic clock, to a fraction of a millisecond.

Timers of an event loop wait in whole milliseconds, because epoll does; a step of a simulated GPU may last four.
Linux has timers of nanoseconds that a loop can wait for like a socket (timerfd_create(2)); elsewhere the loop's own
timer has to do.
"""

import asyncio
import contextlib
import ctypes
import os
import sys
import time
from collections.abc import Callable
from typing import Final, Protocol

_CLOCK_MONOTONIC: Final = 1
_ABSOLUTE: Final = 1  # TFD_TIMER_ABSTIME
_GIGA: Final = 1_000_000_000


class Alarm(Protocol):
    """Rings once for every time it was set; the last setting counts."""

    def set(self, monotonic_ns: int | None) -> None:
        """Ring then, at once where that is past, never for None."""

    def close(self) -> None:
        """Never ring again."""


def alarm(loop: asyncio.AbstractEventLoop, ring: Callable[[], None]) -> Alarm:
    """The finest alarm that the machine has."""
    return TimerAlarm(loop, ring) if sys.platform == "linux" else LoopAlarm(loop, ring)


class LoopAlarm:
    """By the loop's own timer."""

    def __init__(self, loop: asyncio.AbstractEventLoop, ring: Callable[[], None]) -> None:
        self._loop, self._ring = loop, ring
        self._timer: asyncio.TimerHandle | None = None

    def set(self, monotonic_ns: int | None) -> None:
        """Ring then."""
        self.close()
        if monotonic_ns is not None:
            wait = max(0, monotonic_ns - time.monotonic_ns()) / _GIGA
            self._timer = self._loop.call_later(wait, self._ring)

    def close(self) -> None:
        """Never ring again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class _Spec(ctypes.Structure):
    """``struct itimerspec``: interval and first expiration, in seconds and nanoseconds."""

    _fields_ = (
        ("interval_s", ctypes.c_long),
        ("interval_ns", ctypes.c_long),
        ("value_s", ctypes.c_long),
        ("value_ns", ctypes.c_long),
    )


class TimerAlarm:
    """By a timer of the kernel.

    Raises:
        OSError: the kernel gives none.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, ring: Callable[[], None]) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        flags = os.O_NONBLOCK | os.O_CLOEXEC
        self._file = self._library.timerfd_create(_CLOCK_MONOTONIC, flags)
        if self._file < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create")
        self._loop, self._ring = loop, ring
        loop.add_reader(self._file, self._expired)

    def set(self, monotonic_ns: int | None) -> None:
        """Ring then; a setting of zero disarms the timer, so what is past is a nanosecond after it."""
        seconds, rest = (0, 0) if monotonic_ns is None else divmod(max(1, monotonic_ns), _GIGA)
        spec = _Spec(0, 0, seconds, rest)
        self._library.timerfd_settime(self._file, _ABSOLUTE, ctypes.byref(spec), None)

    def close(self) -> None:
        """Never ring again."""
        if self._file >= 0:
            self._loop.remove_reader(self._file)
            os.close(self._file)
            self._file = -1

    def _expired(self) -> None:
        with contextlib.suppress(BlockingIOError):  # set anew since the loop was woken
            os.read(self._file, 8)
            self._ring()
