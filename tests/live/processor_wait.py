"""How long a process wanted a core and had none, as the kernel counts it thread by thread."""

import time
from pathlib import Path

_NS = 1e9


class ProcessorWait:
    """From its making on, of one process; where the kernel does not count, nothing is ever waited for."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._began_s, self._before = time.monotonic(), self._waited_s()

    def share(self) -> float:
        """Threads that wait, on average of the time: 0.3 is one thread for a third of it, nearly."""
        spent = time.monotonic() - self._began_s
        return (self._waited_s() - self._before) / spent

    def _waited_s(self) -> float:
        tasks = Path(f"/proc/{self._pid}/task").iterdir()
        return sum(_waited_ns(task / "schedstat") for task in tasks) / _NS


def _waited_ns(file: Path) -> int:
    """The second of three figures: on a core, waiting for one, and how often (0 for a thread that is gone)."""
    try:
        return int(file.read_text().split()[1])
    except (OSError, IndexError):
        return 0
