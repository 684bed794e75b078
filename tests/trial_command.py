"""`vram trial run` as a process, with a small load, for tests."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from commands import VRAM
from stored_workloads import request, stored
from vramledger.record.journal import Entry, read_journal
from vramledger.trial.conduct.resume import known

SECONDS = 180.0


def steady_workload(path: Path, count: int = 40, gap_s: float = 0.1) -> Path:
    """Requests of different lengths, evenly spaced."""
    rows = (
        request(
            row, arrival_s=row * gap_s, input_tokens=60 + 7 * (row % 20), output_tokens=8 + row % 5
        )
        for row in range(count)
    )
    return stored(path, rows)


def trial_run(
    url: str, workload: Path, out: Path, *options: str, **settings: Any
) -> subprocess.CompletedProcess[str]:
    """The whole of a trial."""
    command = [*VRAM, "trial", "run", "--url", url, "--workload", str(workload), "-o", str(out)]
    return subprocess.run(
        [*command, *options],
        cwd=out.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        **settings,
    )


def result_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The JSON object of a run that came to an end; its exit code follows from it."""
    assert done.returncode in (0, 3), done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert done.returncode == (3 if found["inconclusive"] else 0)
    return found


@contextmanager
def started(
    url: str, workload: Path, out: Path, *options: str, env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """A trial that runs; whatever is left of it is ended on leaving."""
    command = [*VRAM, "trial", "run", "--url", url, "--workload", str(workload), "-o", str(out)]
    with subprocess.Popen(
        [*command, *options],
        cwd=out.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=None if env is None else os.environ | env,
        preexec_fn=_heed_interrupts,  # noqa: PLW1509 - it calls the system and nothing else
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def _heed_interrupts() -> None:
    """Tests in the background of a script inherit that Ctrl-C is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def entries(folder: Path) -> tuple[Entry, ...]:
    """The journal so far; empty before there is one."""
    if not (folder / "journal.jsonl").exists():
        return ()
    return read_journal(folder).entries


def await_phase(folder: Path, name: str, process: subprocess.Popen[str]) -> Entry:
    """The journal's line of a phase, once it is there."""

    def found() -> list[Entry]:
        phases = [entry for entry in entries(folder) if entry.event == "phase"]
        return [entry for entry in phases if entry.details["name"] == name]

    _await(lambda: bool(found()), process, f"the phase {name} did not begin")
    return found()[0]


def await_event(
    folder: Path, event: str, process: subprocess.Popen[str], count: int = 1
) -> tuple[Entry, ...]:
    """The journal's lines of an event, once there are so many."""

    def found() -> tuple[Entry, ...]:
        return tuple(entry for entry in entries(folder) if entry.event == event)

    _await(lambda: len(found()) >= count, process, f"{event} is not {count} times in the journal")
    return found()


def await_requests(folder: Path, count: int, process: subprocess.Popen[str]) -> None:
    """Wait until the record on disk knows of so many requests of the load."""
    _await(lambda: len(known(folder).numbers) >= count, process, f"{count} requests were not sent")


def _await(holds: Callable[[], bool], process: subprocess.Popen[str], otherwise: str) -> None:
    end = time.monotonic() + SECONDS
    over = False
    while not holds():
        if over:
            process.kill()
            raise AssertionError(f"{otherwise}: {process.communicate()}")
        time.sleep(0.02)
        over = time.monotonic() > end or process.poll() is not None  # and then one look more


def worker_pids(folder: Path) -> list[int]:
    """The workers that the journal names."""
    return [each.details["pid"] for each in entries(folder) if each.event == "worker_started"]


def await_gone(pid: int) -> None:
    """Wait until a process that is not our child has ended."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.02)
    raise AssertionError(f"process {pid} is still there")


def interrupt(process: subprocess.Popen[str], how: signal.Signals = signal.SIGINT) -> None:
    """As Ctrl-C does."""
    process.send_signal(how)
