"""What a sampler asks again and again, and what it hears."""

import time
from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final, Protocol

from vramledger.frozen import frozen
from vramledger.record.samples import GpuSample, Sample

_NS: Final = 1e-9


@frozen
class Clock:
    """Seconds of the run: CLOCK_MONOTONIC less its value at second 0."""

    zero_ns: int

    def now_s(self) -> float:
        """What time it is in the run."""
        return (time.monotonic_ns() - self.zero_ns) * _NS


@frozen
class Event:
    """A line for the journal."""

    name: str
    details: Mapping[str, Any]


@frozen
class Taken:
    """What one question brought: rows of server.parquet or gpu.parquet, and lines of the journal.

    `levels` are the figures of now by common name, for whoever shows progress.
    """

    rows: tuple[Sample | GpuSample, ...]
    events: tuple[Event, ...] = ()
    levels: Mapping[str, float] = field(default_factory=dict)


class Missed(Exception):
    """Nothing was to be had. `error_class` is a fixed word, `why` one sentence without foreign text."""

    def __init__(self, error_class: str, why: str) -> None:
        super().__init__(why)
        self.error_class, self.why = error_class, why


class Source(Protocol):
    """Something that is sampled, by one thread.

    `every_s` is its own interval where the sampler's would be too short.
    """

    name: str
    every_s: float | None

    def take(self, clock: Clock) -> Taken:
        """Ask once.

        Raises:
            Missed: no answer, or none of use.
        """

    def close(self) -> None:
        """Let go of connections and libraries."""
