"""Waking an event loop at a moment, to a fraction of a millisecond; its own timers count whole milliseconds."""

import ctypes
import os
import sys
import time
from asyncio import AbstractEventLoop, TimerHandle
from collections.abc import Callable
from typing import Final, Protocol

_CLOCK_MONOTONIC: Final = 1  # linux/time.h
_NONBLOCK_CLOEXEC: Final = os.O_NONBLOCK | getattr(os, "O_CLOEXEC", 0)  # TFD_ flags are the same
_ABSOLUTE: Final = 1  # linux/timerfd.h
_SPIN_NS: Final = 1_500_000
_SECOND: Final = 1_000_000_000


class WakeUp(Protocol):
    """Calls once, at the moment asked for last."""

    def at(self, moment_ns: int) -> None:
        """Call at this moment of the monotonic clock, or at once where it has passed."""

    def close(self) -> None:
        """Call no more."""


def wake_up(loop: AbstractEventLoop, call: Callable[[], None]) -> WakeUp:
    """The best way there is: a timer of the kernel on Linux, elsewhere a timer and a short busy wait."""
    return KernelTimer(loop, call) if sys.platform == "linux" else BusyWait(loop, call)


class _Interval(ctypes.Structure):
    _fields_ = (("interval_s", ctypes.c_long), ("interval_ns", ctypes.c_long),
                ("value_s", ctypes.c_long), ("value_ns", ctypes.c_long))  # fmt: skip


class KernelTimer:
    """A timer of the kernel that is readable when it is due, timerfd_create(2).

    Raises:
        OSError: the kernel gives none.
    """

    def __init__(self, loop: AbstractEventLoop, call: Callable[[], None]) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        self._set = library.timerfd_settime
        self._file = library.timerfd_create(_CLOCK_MONOTONIC, _NONBLOCK_CLOEXEC)
        if self._file < 0:
            raise OSError(ctypes.get_errno(), "no timer of the kernel")
        self._loop, self._call = loop, call
        self._asked = _Interval()
        loop.add_reader(self._file, self._due)

    def at(self, moment_ns: int) -> None:
        """Call at this moment."""
        asked = self._asked
        asked.value_s, asked.value_ns = divmod(max(moment_ns, 1), _SECOND)  # 0 would switch it off
        self._set(self._file, _ABSOLUTE, ctypes.byref(asked), None)

    def close(self) -> None:
        """Call no more."""
        self._loop.remove_reader(self._file)
        os.close(self._file)

    def _due(self) -> None:
        try:
            os.read(self._file, 8)
        except BlockingIOError:
            return  # set anew since
        self._call()


class BusyWait:
    """A timer of the loop until shortly before, then a look at the clock in every round of the loop."""

    def __init__(self, loop: AbstractEventLoop, call: Callable[[], None]) -> None:
        self._loop, self._call = loop, call
        self._moment_ns = sys.maxsize
        self._timer: TimerHandle | None = None
        self._looking = False

    def at(self, moment_ns: int) -> None:
        """Call at this moment."""
        self._moment_ns = moment_ns
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if not self._looking:
            self._look()

    def close(self) -> None:
        """Call no more."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._moment_ns = None, sys.maxsize

    def _look(self) -> None:
        """Look again in the next round, or after the loop's timer where there is time; never call inside `at`."""
        left = self._moment_ns - time.monotonic_ns()
        if self._looking and left <= 0:
            self._looking, self._moment_ns = False, sys.maxsize
            self._call()
        elif left <= _SPIN_NS:
            self._looking = True
            self._loop.call_soon(self._look)
        else:
            self._looking = False
            if self._moment_ns != sys.maxsize:
                self._timer = self._loop.call_later((left - _SPIN_NS / 2) / _SECOND, self._look)
