"""Ctrl-C, SIGTERM and the loss of the terminal: counted while a load runs, so that the record can be closed, raised elsewhere.

A hang-up that is ignored from the start, as under nohup, stays ignored.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final, Self

_ENDING: Final = (signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Counts signals inside a `with` block; outside the main thread none arrive and none are counted."""

    def __init__(self) -> None:
        self.count = 0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for each in (signal.SIGINT, *_heard()):
                self._before[each] = signal.signal(each, self._count)
        return self

    def __exit__(self, *_: object) -> None:
        for each, handler in self._before.items():
            signal.signal(each, handler)

    def _count(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1


@contextmanager
def ended_as_by_ctrl_c() -> Iterator[None]:
    """SIGTERM and the loss of the terminal do inside the block what Ctrl-C does there, in the main thread alone."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.signal(each, _interrupt) for each in _heard()}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _heard() -> tuple[signal.Signals, ...]:
    return tuple(each for each in _ENDING if signal.getsignal(each) is not signal.SIG_IGN)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # so in jobs in a script's background
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)
