"""When the server really received and wrote: what a client's own times can be held against."""

import csv
import time
from pathlib import Path
from typing import Final

from vramledger.errors import BadInput
from vramledger.rehearse.live.ticket import Ticket

COLUMNS: Final = (
    "request_id",
    "number",
    "received_s",
    "first_content_s",
    "last_content_s",
    "done_s",
    "input_tokens",
    "output_tokens",
    "chunks",
    "arrival_ns",
    "preemptions",
    "ending",
)


class TruthFile:
    """A line for each request that is over, as soon as it is; without a file, nothing.

    Raises:
        BadInput: the file cannot be written.
    """

    def __init__(self, path: Path | None) -> None:
        try:
            self._file = None if path is None else path.open("w", newline="", encoding="utf-8")
        except OSError as error:
            raise BadInput(
                f"{path} cannot be written: {error.strerror}; name another file with --truth."
            ) from None
        self._writer = None if self._file is None else csv.writer(self._file)
        if self._writer is not None:
            self._writer.writerow(COLUMNS)

    def write(self, row: "Truth") -> None:
        """One request."""
        if self._file is not None and self._writer is not None:
            self._writer.writerow(row.values)
            self._file.flush()

    def close(self) -> None:
        """No more."""
        if self._file is not None:
            self._file.close()


class Truth:
    """One request's times, in nanoseconds of CLOCK_MONOTONIC; each write is stamped when the kernel has it."""

    def __init__(self, file: TruthFile, request_id: str, number: int, received_ns: int) -> None:
        self._file = file
        self.request_id, self.number, self.received_ns = request_id, number, received_ns
        self._ticket: Ticket | None = None
        self.ending = "ok"
        self._first_ns: int | None = None
        self._last_ns: int | None = None
        self._done_ns: int | None = None
        self._tokens = self._chunks = 0

    def expect(self, ticket: Ticket) -> None:
        """The engine will serve it."""
        self._ticket = ticket

    def wrote(self, now_ns: int, tokens: int) -> None:
        """A write brought so many tokens."""
        self._first_ns = now_ns if self._first_ns is None else self._first_ns
        self._last_ns = now_ns
        self._tokens += tokens
        self._chunks += 1

    def close(self, now_ns: int | None = None, ending: str | None = None) -> None:
        """The request is over; only the first time counts."""
        if self._done_ns is None:
            self._done_ns = time.monotonic_ns() if now_ns is None else now_ns
            self.ending = ending or self.ending
            self._file.write(self)

    @property
    def values(self) -> tuple[str | int, ...]:
        """In the order of `COLUMNS`; empty for what did not happen."""
        ticket = self._ticket
        engine = None if ticket is None else ticket.request
        times = (self.received_ns, self._first_ns, self._last_ns, self._done_ns)
        return (
            self.request_id,
            self.number,
            *("" if each is None else f"{each / 1e9:.9f}" for each in times),
            "" if ticket is None else ticket.arrival.input_tokens,
            self._tokens,
            self._chunks,
            "" if ticket is None else ticket.arrival.arrival_ns,
            0 if engine is None else engine.preemptions,
            self.ending,
        )
