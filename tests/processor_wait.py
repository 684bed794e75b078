"""How much of the time that a process wanted a core it had none, as the kernel counts it thread by thread.

Tests of a server that is to keep up need one that gets its cores; on a machine that others have, it is no such server.
"""

from pathlib import Path

STARVED = 0.3  # of that time


class ProcessorWait:
    """From its making on, of one process; where the kernel does not count, nothing is ever waited for."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._before = self._counted()

    def share(self) -> float:
        """Of the time on a core or waiting for one, that of waiting."""
        on, waited = (now - then for now, then in zip(self._counted(), self._before, strict=True))
        return waited / (on + waited) if on + waited > 0 else 0.0

    def _counted(self) -> tuple[int, int]:
        """Nanoseconds on a core and waiting for one, of all threads that are there."""
        tasks = Path(f"/proc/{self._pid}/task").iterdir()
        each = [_of_thread(task / "schedstat") for task in tasks]
        return sum(on for on, _ in each), sum(waited for _, waited in each)


def _of_thread(file: Path) -> tuple[int, int]:
    """The first two figures of its file; 0 for a thread that is gone."""
    try:
        on, waited, _ = file.read_text().split()
    except (OSError, ValueError):
        return 0, 0
    return int(on), int(waited)
