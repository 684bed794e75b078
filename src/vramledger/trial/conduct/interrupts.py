"""Ctrl-C and SIGTERM while a load runs: counted, not raised, so that the record can be closed."""

import signal
import threading
from types import FrameType
from typing import Any, Final, Self

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Counts signals inside a `with` block; outside the main thread none arrive and none are counted."""

    def __init__(self) -> None:
        self.count = 0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for each in _SIGNALS:
                self._before[each] = signal.signal(each, self._count)
        return self

    def __exit__(self, *_: object) -> None:
        for each, handler in self._before.items():
            signal.signal(each, handler)

    def _count(self, _number: int, _frame: FrameType | None) -> None:
        self.count += 1
