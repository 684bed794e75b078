"""A mirror as a process of its own, on a free port."""

import json
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from commands import VRAM

SECONDS = 120.0
Process = subprocess.Popen[str]


@contextmanager
def mirror(
    a: str, b: str, folder: Path, *more: str, environment: Mapping[str, str] | None = None
) -> Iterator[tuple[Process, int]]:
    """The process and its port, once it listens."""
    command = [*VRAM, "trial", "shadow", "--mirror", "--a", a, "--b", b, "--listen", "127.0.0.1:0", "--json", *more]  # fmt: skip
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:  # fmt: skip
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert line.startswith("Listening on http://127.0.0.1:"), line
            yield process, int(line.split("127.0.0.1:")[1].split()[0])
        finally:
            if process.poll() is None:
                process.kill()


def ended(process: Process) -> tuple[int, dict[str, Any]]:
    """Ctrl-C, and what it told."""
    process.send_signal(signal.SIGINT)
    return told(process)


def told(process: Process) -> tuple[int, dict[str, Any]]:
    """Its exit code and what it told, once it ends."""
    out, err = process.communicate(timeout=SECONDS)
    assert out, err
    return process.returncode, json.loads(out)
