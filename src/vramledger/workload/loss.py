"""The loss report: what became of every row, what was inferred, what was assumed.

It holds counts, line numbers, fixed phrases and names of formats; no word of a log.
"""

from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any, Final

from vramledger.frozen import frozen

_EXAMPLES: Final = 3  # places named for a reason
DUPLICATE: Final = "a request that was read before"


@frozen
class Place:
    """A line (or the number of a record) in one of the files, both from 1."""

    file: int
    line: int


@frozen
class Broken:
    """A file that broke off, and the last line that was read before."""

    file: int
    line: int
    how: str


@frozen
class ClockReport:
    """What is odd about the times. Seconds; None or 0 where nothing is."""

    out_of_order: int = 0  # rows after one of their file that was written later, by their stamps
    largest_step_back_s: float = 0.0
    largest_gap_s: float | None = None  # between two arrivals
    gaps_over_a_day: int = 0
    instants: int | None = None  # distinct times
    quantum_s: float | None = None  # the step of the times where they are quantised
    spread: bool = False  # whether the requests of one instant were spread over it


@frozen
class LossReport:
    """rows_read = rows_kept + the sum of `dropped`.

    `dropped` counts rows. A row may hold many requests, and many rows one: `requests` were stored, and
    `requests_dropped` counts those that were left out of rows that were kept.
    """

    rows_read: int
    rows_kept: int
    requests: int
    dropped: Mapping[str, int] = field(default_factory=dict)
    dropped_at: Mapping[str, tuple[Place, ...]] = field(default_factory=dict)
    requests_dropped: Mapping[str, int] = field(default_factory=dict)
    formats: Mapping[str, int] = field(default_factory=dict)  # format -> files
    files: int = 0
    files_unread: int = 0
    broken: tuple[Broken, ...] = ()
    identical_rows: int = 0  # kept, since without ids nothing says that they are one request
    retries_unmatched: int = 0  # the attempt before is not in the log
    clock: ClockReport = field(default_factory=ClockReport)
    inferred: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """As JSON holds it."""
        found: dict[str, Any] = asdict(self)
        return found


class Tally:
    """The counts while files are read."""

    def __init__(self) -> None:
        self.files = 0
        self.file = 0  # number of the one being read, from 1
        self.rows_read = 0
        self.dropped: dict[str, int] = {}
        self.dropped_at: dict[str, list[Place]] = {}
        self.requests_dropped: dict[str, int] = {}
        self.formats: dict[str, int] = {}
        self.files_unread = 0
        self.broken: list[Broken] = []
        self.out_of_order = 0
        self.largest_step_back_ns = 0
        self._inferred: dict[str, None] = {}
        self._assumed: dict[str, None] = {}
        self._lacks: dict[str, None] = {}

    def drop(self, reason: str, line: int) -> None:
        """Count a row that is left out."""
        self.dropped[reason] = self.dropped.get(reason, 0) + 1
        places = self.dropped_at.setdefault(reason, [])
        if len(places) < _EXAMPLES:
            places.append(Place(self.file, line))

    def drop_request(self, reason: str) -> None:
        """Count a request that is left out of a row that is kept."""
        self.requests_dropped[reason] = self.requests_dropped.get(reason, 0) + 1

    def infer(self, sentence: str) -> None:
        self._inferred[sentence] = None

    def assume(self, sentence: str) -> None:
        self._assumed[sentence] = None

    def lack(self, sentence: str) -> None:
        self._lacks[sentence] = None

    def report(
        self,
        requests: int,
        clock: ClockReport,
        *,
        identical_rows: int = 0,
        retries_unmatched: int = 0,
    ) -> LossReport:
        """The counts as a report."""
        return LossReport(
            rows_read=self.rows_read,
            rows_kept=self.rows_read - sum(self.dropped.values()),
            requests=requests,
            dropped=dict(sorted(self.dropped.items())),
            dropped_at={key: tuple(self.dropped_at[key]) for key in sorted(self.dropped_at)},
            requests_dropped=dict(sorted(self.requests_dropped.items())),
            formats=dict(sorted(self.formats.items())),
            files=self.files,
            files_unread=self.files_unread,
            broken=tuple(self.broken),
            identical_rows=identical_rows,
            retries_unmatched=retries_unmatched,
            clock=clock,
            inferred=tuple(self._inferred),
            assumed=tuple(self._assumed),
            lacks=tuple(self._lacks),
        )
