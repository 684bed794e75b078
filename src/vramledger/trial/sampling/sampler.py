"""Asks every source at a steady pace, each from a thread of its own, and hands on what it hears.

A source that is slow or gone holds up no other. What was missed is told in the journal: `gap_began` with a class and a
sentence, `gap_ended` with the moments between which nothing is known. A gap has no rows, but where the answers were
only slow (class `slow`) it has fewer than its length would have. A source that fails in a way that nobody foresaw
(class `defect`) is a gap as well: it ends neither its thread nor the run.
"""

import threading
from collections.abc import Mapping, Sequence
from math import floor
from typing import Any, Final, Protocol, Self

from vramledger.errors import VramError
from vramledger.frozen import frozen
from vramledger.record.tables import Row
from vramledger.trial.sampling.source import Clock, Missed, Source

INTERVAL_S: Final = 0.25
_STOPPING_S: Final = 10.0
_SLOW: Final = "slow"
_DEFECT: Final = "defect"


class Log(Protocol):
    """Where rows and journal lines go: a `RecordedRun` is one."""

    def append(self, row: Row) -> None:
        """Add a row to the table of its kind."""

    def note(self, t_s: float, event: str, **details: Any) -> None:
        """Add a line to the journal."""


@frozen
class Level:
    """The last page of a source: when it was asked for, and its figures by common name."""

    t_s: float
    figures: Mapping[str, float]


class Sampler:
    """Samples from `start` to `stop`, or in a `with` block.

    Moments are those of the run's clock, whose second 0 is `zero_ns` of CLOCK_MONOTONIC; sources are asked at multiples
    of `interval_s` of it, and moments that a slow one missed are left out.

    Raises:
        VramError: a row could not be recorded; from `check` and `stop`.
    """

    def __init__(
        self, sources: Sequence[Source], log: Log, zero_ns: int, interval_s: float = INTERVAL_S
    ) -> None:
        self._clock = Clock(zero_ns)
        self._stopping = threading.Event()
        self._pacers = [
            _Pacer(each, log, self._clock, interval_s, self._stopping) for each in sources
        ]

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            self.stop()
        except VramError:
            if kind is None:
                raise

    def start(self) -> None:
        """Begin, at the next multiple of the interval."""
        for pacer in self._pacers:
            pacer.start()

    def stop(self) -> None:
        """Ask each source once more, and close it; a second call does nothing."""
        self._stopping.set()
        for pacer in self._pacers:
            pacer.end(_STOPPING_S)
        self.check()

    def check(self) -> None:
        """Hear of what could not be recorded."""
        for pacer in self._pacers:
            if pacer.failure is not None:
                raise pacer.failure

    def level(self, source: str) -> Level | None:
        """The latest figures of a source by its name, None before the first."""
        return next((each.level for each in self._pacers if each.name == source), None)


class _Pacer:
    """One source and its thread."""

    def __init__(
        self, source: Source, log: Log, clock: Clock, interval_s: float, stopping: threading.Event
    ) -> None:
        self.name = source.name
        self.level: Level | None = None
        self.failure: VramError | None = None
        self._source, self._log, self._clock = source, log, clock
        self._interval_s, self._stopping = source.every_s or interval_s, stopping
        self._gap: _Gap | None = None
        self._thread = threading.Thread(target=self._run, name=f"sample {source.name}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def end(self, most_s: float) -> None:
        if self._thread.ident is not None:
            self._thread.join(most_s)

    def _run(self) -> None:
        try:
            while not self._stopping.wait(self._until_next()):
                self._once()
            self._once()  # what the load left behind
            self._close_gap(self._clock.now_s(), still_open=True)
        except VramError as error:
            self.failure = error
        finally:
            self._source.close()

    def _until_next(self) -> float:
        now = self._clock.now_s()
        return (floor(now / self._interval_s) + 1) * self._interval_s - now

    def _once(self) -> None:
        asked_s = self._clock.now_s()
        try:
            self._take(asked_s)
        except Missed as missed:
            self._open_gap(asked_s, missed.error_class, missed.why)
        except VramError:
            raise
        except Exception as error:  # noqa: BLE001 - told in the journal; the other figures of the run are sound
            why = f"reading it failed on a defect of vramledger ({type(error).__name__})"
            self._open_gap(asked_s, _DEFECT, why)

    def _take(self, asked_s: float) -> None:
        taken = self._source.take(self._clock)
        if self._clock.now_s() - asked_s > self._interval_s:
            self._open_gap(asked_s, _SLOW, f"it takes longer than {self._interval_s:g} s")
        else:
            self._close_gap(asked_s)
        for row in taken.rows:
            self._log.append(row)
        for event in taken.events:
            self._log.note(asked_s, event.name, **event.details)
        self.level = Level(asked_s, taken.levels)

    def _open_gap(self, t_s: float, error_class: str, why: str) -> None:
        if self._gap is not None and self._gap.error_class == error_class:
            return
        self._close_gap(t_s)
        self._gap = _Gap(t_s, error_class)
        self._log.note(t_s, "gap_began", source=self.name, error_class=error_class, why=why)

    def _close_gap(self, t_s: float, *, still_open: bool = False) -> None:
        if self._gap is None:
            return
        gap, self._gap = self._gap, None
        details = {"source": self.name, "error_class": gap.error_class, "began_s": gap.began_s}
        self._log.note(t_s, "gap_ended", **details, with_the_run=still_open)


@frozen
class _Gap:
    began_s: float
    error_class: str
