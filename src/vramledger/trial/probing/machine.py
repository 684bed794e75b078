"""The host and the container around this process: processors, memory, limits, room on disk.

None is what this system does not tell.
"""

import os
import resource
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from vramledger.frozen import frozen

_IN_CONTAINER: Final = ("/.dockerenv", "/run/.containerenv", "/run/secrets/kubernetes.io")
_KIB: Final = 1024


@frozen
class Machine:
    """Sizes in bytes."""

    processor: str | None
    processors: int  # that this process may use
    processors_quota: float | None  # what a container may use of them, in processors
    memory_bytes: int | None
    memory_available_bytes: int | None
    memory_limit_bytes: int | None  # of the container; None where there is no limit
    swap_bytes: int | None
    shared_memory_bytes: int | None  # /dev/shm, through which the processes of a server talk
    open_files: int | None  # that this process may have; None without a limit
    container: bool
    root: bool
    disk_free_bytes: int | None
    disk: str  # the folder that the figure is for


def read_machine(folder: Path, root: Path = Path("/")) -> Machine:
    """This machine, with the disk that `folder` lies on."""
    memory = _memory(root / "proc/meminfo")
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return Machine(
        processor=_processor(root / "proc/cpuinfo"),
        processors=len(os.sched_getaffinity(0)),
        processors_quota=_quota(root / "sys/fs/cgroup/cpu.max"),
        memory_bytes=memory.get("MemTotal"),
        memory_available_bytes=memory.get("MemAvailable"),
        memory_limit_bytes=_whole(root / "sys/fs/cgroup/memory.max"),
        swap_bytes=memory.get("SwapTotal"),
        shared_memory_bytes=_size(root / "dev/shm"),
        open_files=None if files == resource.RLIM_INFINITY else files,
        container=any((root / path.lstrip("/")).exists() for path in _IN_CONTAINER),
        root=os.geteuid() == 0,
        disk_free_bytes=_free(folder),
        disk=str(folder),
    )


def _text(path: Path) -> str:
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text("utf-8")
    return ""


def _processor(path: Path) -> str | None:
    lines = (line.partition(":") for line in _text(path).splitlines())
    return next((value.strip() for key, _, value in lines if key.strip() == "model name"), None)


def _memory(path: Path) -> dict[str, int]:
    rows = (line.split() for line in _text(path).splitlines())
    return {row[0].rstrip(":"): int(row[1]) * _KIB for row in rows if len(row) > 1}


def _quota(path: Path) -> float | None:
    parts = _text(path).split()
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        return None
    return int(parts[0]) / int(parts[1])


def _whole(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdecimal() else None


def _size(path: Path) -> int | None:
    with suppress(OSError):
        return shutil.disk_usage(path).total
    return None


def _free(path: Path) -> int | None:
    with suppress(OSError):
        return shutil.disk_usage(path).free
    return None
