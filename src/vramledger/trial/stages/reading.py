"""A file of stages, whichever form it has, put on a run's clock and to its requests."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.record.samples import StageRecord
from vramledger.trial.stages.access_logs import told_by_json, told_by_text
from vramledger.trial.stages.spans import told_by_spans
from vramledger.trial.stages.told import Told, number_in

_LONGEST_LINE: Final = 4 << 20
FORMS: Final = (
    "OpenTelemetry spans as JSON lines, or an access log of Envoy (its default form or JSON) or nginx (JSON) that has the "
    "request id"
)


@frozen
class OnTheRun:
    """How a file's moments become seconds of the run.

    `wall_zero_ns` is our wall clock at second 0; `ahead_s` is how far the file's clock is ahead of ours. `trace` is the
    run's part of every identity; `numbers` are requests by the names that the server gave them.
    """

    wall_zero_ns: int
    ahead_s: float
    trace: str | None
    numbers: Mapping[str, int]

    def number_of(self, told: Told) -> int | None:
        """Which request it is about."""
        for name in told.names:
            number = None if self.trace is None else number_in(name, self.trace)
            number = self.numbers.get(name) if number is None else number
            if number is not None:
                return number
        return None

    def second(self, moment_ns: int) -> float:
        """Of the run."""
        return (moment_ns - self.wall_zero_ns) / 1e9 - self.ahead_s


@frozen
class Stages:
    """What a file told of this run; `lines` is how many it has, `unread` how many of them are of no form, `others` how many stages are of other requests."""

    rows: tuple[StageRecord, ...]
    lines: int
    unread: int
    others: int

    @property
    def requests(self) -> int:
        """How many requests they are about."""
        return len({row.request_id for row in self.rows})


def read_stages(path: Path, clock: OnTheRun) -> Stages:
    """All stages of a run's requests in a file.

    Raises:
        BadInput: the file cannot be read.
    """
    rows: list[StageRecord] = []
    lines = unread = others = 0
    for line in _lines(path):
        lines += 1
        told = _told(line)
        if told is None:
            unread += 1
            continue
        for each in told:
            number = clock.number_of(each)
            if number is None:
                others += 1
            else:
                span = (clock.second(each.start_ns), clock.second(each.end_ns))
                rows.append(StageRecord(number, each.stage, each.source, *span))
    return Stages(tuple(rows), lines, unread, others)


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with path.open("rb") as file:
            while line := file.readline(_LONGEST_LINE):
                if line.strip():
                    yield line
    except OSError as error:
        raise BadInput(
            f"{path} cannot be read ({error.strerror or error}); --stages takes {FORMS}."
        ) from None


def _told(line: bytes) -> Iterator[Told] | None:
    if not line.lstrip().startswith(b"{"):
        return told_by_text(line.decode("utf-8", "replace"))
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    return told_by_spans(found) or told_by_json(found)
