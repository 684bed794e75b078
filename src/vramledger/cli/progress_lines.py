"""Progress where stderr is no terminal: a plain line every ten seconds, none of what is over before."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Final

from vramledger.cli.workload.progress_bar import progress_bar
from vramledger.report.number import duration
from vramledger.simulate.progress import Progress

EVERY_S: Final = 10.0


class ProgressLines:
    """What takes the units done, those there are in all, and the simulated time where there is one."""

    def __init__(self, what: str, unit: str) -> None:
        self._what, self._unit = what, unit
        self._began = self._since = time.monotonic()
        self._done = self._all = 0
        self._now_ns: int | None = None

    def __call__(self, done: int, of_all: int) -> None:
        """How far it is; less than before begins another part, whose rest is reckoned from now."""
        if done < self._done or of_all != self._all:
            self._since, self._now_ns = time.monotonic(), None
        self._done, self._all = done, of_all

    def at(self, now_ns: int) -> None:
        """The simulated time."""
        self._now_ns = now_ns

    def line(self) -> str:
        """Everything that is known now."""
        now = time.monotonic()
        parts = [f"{duration(now - self._began)} so far"]
        if self._all:
            parts.insert(0, f"{self._done:,} of {self._all:,} {self._unit} ({self._share:.0%})")
        if self._now_ns is not None:
            parts.append(f"simulated time {duration(self._now_ns / 1e9)}")
        if 0 < self._done < self._all:
            left = (now - self._since) * (self._all - self._done) / self._done
            parts.append(f"about {duration(left)} left of this part")
        elif self._done:
            parts.append("its figures are worked out")
        return f"{self._what}: {', '.join(parts)}"

    @property
    def _share(self) -> float:
        return self._done / self._all


@contextmanager
def progress_shown(what: str, unit: str) -> Iterator[Progress]:
    """A bar on a terminal, elsewhere lines."""
    if sys.stderr.isatty():
        with progress_bar(what, unit) as bar:
            yield bar
        return
    lines, over = ProgressLines(what, unit), Event()
    teller = Thread(target=_tell, args=(lines, over), daemon=True)
    teller.start()
    try:
        yield lines
    finally:
        over.set()
        teller.join()


def _tell(lines: ProgressLines, over: Event) -> None:
    """From a thread of its own, so that nothing that takes long keeps a line back."""
    while not over.wait(EVERY_S):
        with suppress(OSError):  # nobody may be left to look
            print(lines.line(), file=sys.stderr, flush=True)  # noqa: T201 - progress
