"""The processes of a server on this machine: who listens on its port, and everything those started.

From /proc; another user's processes, and those of another container, cannot be seen.
"""

import ipaddress
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

_LISTENING: Final = "0A"  # state in /proc/net/tcp
_KEPT_S: Final = (
    5.0  # workers come and go rarely, and looking through all processes takes milliseconds
)


class ServerProcesses:
    """Call it for the process numbers, looked up anew every few seconds."""

    def __init__(self, port: int, root: Path = Path("/proc")) -> None:
        self._port, self._root = port, root
        self._found: frozenset[int] = frozenset()
        self._until = 0.0

    def __call__(self) -> frozenset[int]:
        """Numbers in this process's namespace; empty where none can be seen."""
        if time.monotonic() >= self._until:
            self._found = frozenset(_with_descendants(self._root, self._listeners()))
            self._until = time.monotonic() + _KEPT_S
        return self._found

    def _listeners(self) -> set[int]:
        inodes = set(_listening_inodes(self._root, self._port))
        if not inodes:
            return set()
        return {pid for pid in _pids(self._root) if inodes & set(_socket_inodes(self._root, pid))}


def local_processes(url: str) -> ServerProcesses | None:
    """Those of the server at an address of this machine's loopback, None for any other address."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    with suppress(ValueError):
        if not ipaddress.ip_address(host).is_loopback:
            return None
        host = "localhost"
    if host != "localhost":
        return None
    return ServerProcesses(parts.port or (443 if parts.scheme == "https" else 80))


def _listening_inodes(root: Path, port: int) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (root / "net" / table).read_text().splitlines()[1:]:
                columns = line.split()
                if columns[3] == _LISTENING and int(columns[1].rpartition(":")[2], 16) == port:
                    yield columns[9]


def _pids(root: Path) -> Iterator[int]:
    for entry in root.iterdir():
        if entry.name.isdecimal():
            yield int(entry.name)


def _socket_inodes(root: Path, pid: int) -> Iterator[str]:
    with suppress(OSError):  # it ended, or is another user's
        for entry in (root / str(pid) / "fd").iterdir():
            with suppress(OSError):
                name = str(entry.readlink())
                if name.startswith("socket:["):
                    yield name[len("socket:[") : -1]


def _with_descendants(root: Path, found: set[int]) -> set[int]:
    if not found:
        return found
    children: dict[int, list[int]] = {}
    for pid in _pids(root):
        with suppress(OSError, ValueError, IndexError):
            parent = (root / str(pid) / "stat").read_text().rpartition(")")[2].split()[1]
            children.setdefault(int(parent), []).append(pid)
    todo = list(found)
    while todo:
        more = [child for child in children.get(todo.pop(), ()) if child not in found]
        found.update(more)
        todo += more
    return found
