"""Errors of GPUs that the kernel wrote down since the machine was booted."""

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

from vramledger.frozen import frozen

_MOST: Final = 1 << 24
_XID: Final = re.compile(rb"NVRM: Xid \((?:PCI:)?(?P<place>[0-9a-fA-F:.]+)\): (?P<number>\d+)")


@frozen
class LoggedXid:
    """One kind of error on one GPU, and how often it stands in the log."""

    place: str  # on the PCI bus
    number: int
    times: int


def logged_xids(path: Path = Path("/dev/kmsg")) -> tuple[LoggedXid, ...] | None:
    """What the kernel's ring buffer still holds; None where this process may not read it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    counts: dict[tuple[str, int], int] = {}
    read = 0
    try:
        with suppress(BlockingIOError):  # the end of what there is
            while read < _MOST:
                record = os.read(descriptor, 1 << 16)  # /dev/kmsg gives one record a call
                if not record:
                    break
                read += len(record)
                for found in _XID.finditer(record):
                    key = (found["place"].decode(), int(found["number"]))
                    counts[key] = counts.get(key, 0) + 1
    except OSError:  # overtaken by the kernel: what was read so far stands
        return tuple(LoggedXid(*key, times) for key, times in counts.items()) or None
    finally:
        os.close(descriptor)
    return tuple(LoggedXid(*key, times) for key, times in counts.items())
