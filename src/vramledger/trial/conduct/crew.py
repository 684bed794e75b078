"""The workers of a trial, as their parent sees them: orders go in, reports come out. `Crew` has them as processes of this machine."""

import json
import os
import selectors
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, Self

from vramledger.errors import BadInput, CannotKnow, ExitCode, VramError
from vramledger.trial.client.job import WorkerJob

_PIECE: Final = 1 << 16
_KEPT_WORDS: Final = 2_000  # of what a worker says on its way out
_ENDING_S: Final = 15.0
_COMMAND: Final = (sys.executable, "-m", "vramledger.trial.client.worker")


class Worker(ABC):
    """One worker, wherever it is. `progress` is its latest report, `ended` its last; `lost` that it went without one."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.ready = self.lost = False
        self.progress: Mapping[str, Any] = {}
        self.ended: Mapping[str, Any] | None = None
        self.failure: VramError | None = None
        self._rest = b""

    @property
    def is_done(self) -> bool:
        """Whether nothing more will come of it."""
        return self.lost or self.ended is not None or self.failure is not None

    @property
    @abstractmethod
    def about(self) -> Mapping[str, Any]:
        """What the journal says of it when it begins: its process id at least."""

    @abstractmethod
    def tell(self, words: str) -> None:
        """Give it an order; one that is gone hears nothing."""

    @abstractmethod
    def end_words(self) -> str:
        """How it went that was lost."""

    def heard(self, piece: bytes) -> tuple[Mapping[str, Any], ...]:
        """The whole reports in what it wrote; nothing means that it closed its end."""
        if not piece:
            self.lost = not self.is_done
            return ()
        *lines, self._rest = (self._rest + piece).split(b"\n")
        reports = tuple(json.loads(line) for line in lines)
        for report in reports:
            self._note(report)
        return reports

    def _note(self, report: Mapping[str, Any]) -> None:
        kind = report["event"]
        if kind == "ready":
            self.ready = True
        elif kind == "ended":
            self.ended = report
        elif kind == "error":
            error = BadInput if report["exit_code"] == ExitCode.BAD_INPUT else CannotKnow
            self.failure = error(report["message"])
        else:
            self.progress = report


class Workers(Protocol):
    """All workers of a trial, wherever they are; used in a `with` block, after which none of them runs.

    `head_start_ns` is how long before second 0 of the load they are told of it.
    """

    @property
    def workers(self) -> Sequence[Worker]:
        """Them."""

    @property
    def head_start_ns(self) -> int:
        """See above."""

    def __enter__(self) -> Self:
        """They are started before."""

    def __exit__(self, *_: object) -> None:
        """End what still runs."""

    def tell(self, words: str) -> None:
        """Give all of them an order."""

    def listen(self, seconds: float) -> Sequence[tuple[Worker, Mapping[str, Any]]]:
        """Reports that come within this time, each with its worker; returns early when some came."""

    def finish(self) -> Mapping[str, Any]:
        """What is left to be said in the journal when the load is over; all they wrote is in the run's folder then."""


def all_done(crew: Workers) -> bool:
    """Whether every worker has ended, in whatever way."""
    return all(worker.is_done for worker in crew.workers)


def all_ready(crew: Workers) -> bool:
    """Whether every worker that still runs waits for the start."""
    return all(worker.ready or worker.is_done for worker in crew.workers)


class LocalWorker(Worker):
    """A process on this machine."""

    def __init__(self, job: WorkerJob) -> None:
        super().__init__(job.writer)
        self.process = subprocess.Popen(  # noqa: S603 - our own module
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,  # a terminal's Ctrl-C is for the parent to hear
        )
        self.words = b""
        self.tell(json.dumps(job.to_json(), separators=(",", ":")))

    @property
    def about(self) -> Mapping[str, Any]:
        return {"pid": self.process.pid}

    def tell(self, words: str) -> None:
        if self.process.stdin is None or self.process.stdin.closed:
            return
        try:
            self.process.stdin.write(words.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return

    def end_words(self) -> str:
        code = self.process.wait()
        return f"signal {-code}" if code < 0 else f"exit code {code}"


class Crew:
    """The workers of a trial as processes of this machine."""

    head_start_ns = 200_000_000

    def __init__(self, jobs: Sequence[WorkerJob]) -> None:
        self.workers: list[LocalWorker] = []
        self._selector = selectors.DefaultSelector()
        try:
            for job in jobs:
                self._hire(LocalWorker(job))
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def tell(self, words: str) -> None:
        """Give all of them an order."""
        for worker in self.workers:
            worker.tell(words)

    def listen(self, seconds: float) -> list[tuple[Worker, Mapping[str, Any]]]:
        """Reports that come within this time, each with its worker; returns early when some came."""
        found: list[tuple[Worker, Mapping[str, Any]]] = []
        for key, _ in self._selector.select(seconds):
            worker: LocalWorker = key.data
            piece = os.read(key.fd, _PIECE)
            if not piece:
                self._selector.unregister(key.fileobj)
            if key.fileobj is worker.process.stderr:
                worker.words = (worker.words + piece)[-_KEPT_WORDS:]
            else:
                found += [(worker, report) for report in worker.heard(piece)]
        return found

    def finish(self) -> Mapping[str, Any]:
        """They wrote into the folder themselves."""
        return {}

    def close(self) -> None:
        """End what still runs: the end of its orders first, then by force."""
        for worker in self.workers:
            if worker.process.stdin is not None and not worker.process.stdin.closed:
                _close_quietly(worker)
        end = time.monotonic() + _ENDING_S
        for worker in self.workers:
            try:
                self._drain(worker, end)
                worker.process.wait(max(end - time.monotonic(), 0.1))
            except subprocess.TimeoutExpired:
                worker.process.kill()
                worker.process.wait()
            for pipe in (worker.process.stdout, worker.process.stderr):
                if pipe is not None:
                    pipe.close()
        self._selector.close()

    def _hire(self, worker: LocalWorker) -> None:
        self.workers.append(worker)
        for pipe in (worker.process.stdout, worker.process.stderr):
            if pipe is not None:
                self._selector.register(pipe, selectors.EVENT_READ, worker)

    def _drain(self, worker: LocalWorker, end: float) -> None:
        """Read on while it ends: a full pipe would hold it up."""
        while worker.process.poll() is None and time.monotonic() < end:
            self.listen(0.05)


def _close_quietly(worker: LocalWorker) -> None:
    if worker.process.stdin is None:
        return
    try:
        worker.process.stdin.close()
    except BrokenPipeError:
        return
