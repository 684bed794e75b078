"""A worker on a machine of the cluster: the same process as here, with its pipes and its segments brought to whoever asks.

`Hand` is what Ray makes an actor of. It holds one process; its rows lie in a folder of its own and leave with each answer. When
it goes, its process hears the end of its orders and ends too.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from vramledger import __version__
from vramledger.frozen import frozen
from vramledger.record.segments import FOLDER
from vramledger.trial.client.job import WorkerJob
from vramledger.trial.elsewhere.luggage import KEY_ENV, unpacked

_PIECE: Final = 1 << 20
_MOST: Final = 8 << 20  # bytes of one segment in one answer
_COMMAND: Final = (sys.executable, "-m", "vramledger.trial.client.worker")


@frozen
class Piece:
    """Bytes of a segment, from a place on in it."""

    name: str
    start: int
    content: bytes


@frozen
class News:
    """What came since the last question: lines of reports, words on its standard error, and pieces of segments.

    `exit_code` is None while the process runs; `is_all` says that nothing more will come.
    """

    reports: bytes
    words: bytes
    pieces: tuple[Piece, ...]
    exit_code: int | None
    is_all: bool


@frozen
class Host:
    """The machine that a worker is on, and what it has."""

    name: str
    version: str


class Hand:
    """One worker process, and its folder."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="vram-worker-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._sent: dict[str, int] = {}

    def host(self) -> Host:
        """Where this is."""
        return Host(socket.gethostname(), __version__)

    def clock(self) -> int:
        """CLOCK_MONOTONIC of this machine, in nanoseconds."""
        return time.monotonic_ns()

    def begin(self, job: Mapping[str, object], files: Mapping[str, bytes], key: str | None) -> int:
        """Start the worker; its process id. The key goes into its environment and nowhere else."""
        (self._folder / FOLDER).mkdir()
        there = unpacked(WorkerJob.from_json(job), files, self._folder)
        process = subprocess.Popen(  # noqa: S603 - our own module
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
            env=os.environ | ({} if key is None else {KEY_ENV: key}),
        )
        self._process = process
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
        self._tell(json.dumps(there.to_json(), separators=(",", ":")))
        return process.pid

    def exchange(self, orders: Sequence[str]) -> News:
        """Hand on orders, and say what came since."""
        process = self._running()
        for order in orders:
            self._tell(order)
        exit_code = process.poll()  # before its pipes are read: what it wrote is then all there is
        reports, words = _read(process.stdout), _read(process.stderr)
        pieces = tuple(each for each in map(self._piece, self._segments()) if each.content)
        is_all = exit_code is not None and not reports and not pieces
        return News(reports, words, pieces, exit_code, is_all)

    def close_orders(self) -> None:
        """Say that no more orders come: the worker ends."""
        process = self._running()
        if process.stdin is not None and not process.stdin.closed:
            try:
                process.stdin.close()
            except BrokenPipeError:
                return

    def end(self) -> None:
        """End the process, by force if it still runs, and remove its folder."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is None:
            raise RuntimeError("it has no job yet")
        return self._process

    def _tell(self, words: str) -> None:
        stdin = self._running().stdin
        if stdin is None or stdin.closed:
            return
        try:
            stdin.write(words.encode() + b"\n")
            stdin.flush()
        except BrokenPipeError:
            return

    def _segments(self) -> list[Path]:
        return sorted((self._folder / FOLDER).iterdir())

    def _piece(self, path: Path) -> Piece:
        start = self._sent.get(path.name, 0)
        with path.open("rb") as file:
            file.seek(start)
            content = file.read(_MOST)
        self._sent[path.name] = start + len(content)
        return Piece(path.name, start, content)


def _read(pipe: object) -> bytes:
    """What is in a pipe now."""
    from typing import IO, cast

    found = b""
    descriptor = cast("IO[bytes]", pipe).fileno()
    while True:
        try:
            piece = os.read(descriptor, _PIECE)
        except BlockingIOError:
            return found
        if not piece:
            return found
        found += piece
