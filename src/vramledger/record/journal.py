"""journal.jsonl: what happened in a run, a line as it happens, only ever appended to.

A line is written in one call, so that a recorder killed at any moment leaves whole lines and at most
one half line at the end, which readers leave out. Whoever appends holds a lock that dies with them.
"""

import fcntl
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.named_file import read_bytes
from vramledger.record.description import canonical

FILE: Final = "journal.jsonl"
_LARGEST: Final = 1 << 30  # bytes
_FIXED: Final = ("t_s", "event")


@frozen
class Entry:
    """One line: seconds of the run's clock, what happened, and whatever belongs to it."""

    t_s: float
    event: str
    details: Mapping[str, Any]


@frozen
class Entries:
    """The lines of a journal; `half_line` says that the last one was never finished."""

    entries: tuple[Entry, ...]
    half_line: bool


class Journal:
    """The journal of a run that is being recorded, by one recorder at a time.

    Raises:
        BadInput: another recorder holds it.
        OSError: it cannot be opened.
    """

    def __init__(self, folder: Path) -> None:
        path = folder / FILE
        self._descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._descriptor)
            raise BadInput(
                f"{folder} is being recorded by another process; wait until that ends."
            ) from None
        self._writing = threading.Lock()
        self._drop_half_line()

    def append(self, t_s: float, event: str, **details: Any) -> None:
        """Add a line, whole or not at all; it survives the end of this process, and `sync` makes it survive more.

        Raises:
            OSError: it cannot be written.
        """
        line = canonical(details | {"t_s": float(t_s), "event": event}) + b"\n"
        with self._writing:
            before = os.fstat(self._descriptor).st_size
            try:
                while line:  # of a full disk the first call takes what still fits
                    line = line[os.write(self._descriptor, line) :]
            except OSError:
                os.ftruncate(self._descriptor, before)
                raise

    def sync(self) -> None:
        """Wait until all lines are on disk."""
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Put the lines on disk and let go of the lock; a second call does nothing."""
        if self._descriptor >= 0:
            self.sync()
            os.close(self._descriptor)
            self._descriptor = -1

    def _drop_half_line(self) -> None:
        size = os.fstat(self._descriptor).st_size
        whole = os.pread(self._descriptor, size, 0).rfind(b"\n") + 1
        if whole < size:
            os.ftruncate(self._descriptor, whole)


def read_journal(folder: Path) -> Entries:
    """What happened, in the order of writing.

    Raises:
        BadInput: it cannot be read, or a finished line is no entry.
    """
    path = folder / FILE
    *whole, rest = read_bytes(path, _LARGEST, "a run's journal").split(b"\n")
    entries = tuple(_entry(line, f"{path} line {number}") for number, line in enumerate(whole, 1))
    return Entries(entries, half_line=bool(rest))


def _no_number(text: str) -> None:
    raise ValueError(text)  # NaN and the like, which no journal of ours has


def _entry(line: bytes, where: str) -> Entry:
    try:
        found = json.loads(line, parse_constant=_no_number)
        t_s, event = found["t_s"], found["event"]
    except (ValueError, KeyError, TypeError, RecursionError):
        t_s = event = found = None
    if type(t_s) is not float or not isinstance(event, str):
        raise BadInput(f"{where} is no entry of a journal; use an unchanged copy of the run.")
    return Entry(t_s, event, {key: found[key] for key in found if key not in _FIXED})
