"""A worker of a trial as its parent sees it: a process, its orders and its reports."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from vramledger.record.requests import REQUESTS
from vramledger.record.segments import segments, whole_batches
from vramledger.trial.client.job import WorkerJob


class WorkerProcess:
    """A running worker; reports are read as they come."""

    def __init__(self, process: "subprocess.Popen[bytes]", job: WorkerJob) -> None:
        self.process, self.job = process, job
        self.reports: list[dict[str, Any]] = []
        self._new = threading.Condition()
        self._thread = threading.Thread(target=self._read)
        self._thread.start()
        self.say(json.dumps(job.to_json()))

    def say(self, words: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(words.encode() + b"\n")
        self.process.stdin.flush()

    def await_report(self, event: str, seconds: float = 60) -> dict[str, Any]:
        """The first report of that kind that comes from now on, or came already."""
        with self._new:
            self._new.wait_for(lambda: self._named(event), seconds)
            return self._named(event)[0]

    def end(self) -> int:
        """Its exit code, once it has ended of itself."""
        code = self.process.wait(60)
        self._thread.join()
        return code

    def rows(self) -> list[dict[str, Any]]:
        """The requests that it wrote as ended."""
        paths = segments(Path(self.job.folder), REQUESTS.name)
        return [row for batch in whole_batches(REQUESTS, paths) for row in batch.to_pylist()]

    def _named(self, event: str) -> list[dict[str, Any]]:
        return [report for report in self.reports if report["event"] == event]

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._new:
                self.reports.append(json.loads(line))
                self._new.notify_all()


@contextmanager
def worker(job: WorkerJob, **environment: str) -> Iterator[WorkerProcess]:
    """The worker, killed at the end of the block if it still runs."""
    command = [sys.executable, "-m", "vramledger.trial.client.worker"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | environment
    ) as process:
        running = WorkerProcess(process, job)
        try:
            yield running
        finally:
            process.kill()
            running._thread.join()


def await_until(condition: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for what comes sooner or later."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)


def now(job: WorkerJob) -> WorkerJob:
    """The job with its clocks set to now."""
    return replace(job, zero_ns=time.monotonic_ns())
