"""A worker process: ``python -m vramledger.trial.client.worker``, with its job on standard input (see `job`)."""

import asyncio
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from vramledger.errors import BadInput, VramError
from vramledger.record.recorder import Recorder
from vramledger.trial.client.client import Client
from vramledger.trial.client.job import WorkerJob
from vramledger.trial.client.orders import Orders, Reports
from vramledger.trial.client.text_counter import text_counter
from vramledger.trial.planned import PlannedRequest

_REPORT_S: Final = 0.25
_SWITCH_S: Final = 0.0005  # the thread that writes rows gives way at once
_STDIN, _STDOUT = 0, 1


def main() -> int:
    """Do the job; the exit code is 0 when it was done or ended as told."""
    reports = Reports(_STDOUT)
    orders = Orders(_STDIN)
    try:
        job = _job(orders.first_line())
        prepare_process(job.cpu)
        run_worker(job, _load(job), orders, reports)
    except VramError as error:
        reports.tell({"event": "error", "message": str(error), "exit_code": int(error.exit_code)})
        return int(error.exit_code)
    return 0


def prepare_process(cpu: int | None) -> None:
    """Stay on one core, take as many sockets as the system gives, let threads give way quickly."""
    if cpu is not None:
        os.sched_setaffinity(0, {cpu})
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    sys.setswitchinterval(_SWITCH_S)


def run_worker(
    job: WorkerJob, load: Iterator[PlannedRequest], orders: Orders, reports: Reports
) -> None:
    """Send the load and record it, until it has ended or the orders say so.

    Raises:
        BadInput: the target cannot be used, or the run's folder cannot be written.
    """
    import uvloop

    with Recorder(Path(job.folder), job.writer) as recorder:
        recorder.open_for_requests()
        uvloop.run(Worker(job, load, recorder, orders, reports).run())


class Worker:
    """One worker inside its event loop."""

    def __init__(
        self,
        job: WorkerJob,
        load: Iterator[PlannedRequest],
        recorder: Recorder,
        orders: Orders,
        reports: Reports,
    ) -> None:
        self._job, self._load, self._recorder = job, load, recorder
        self._orders, self._reports = orders, reports
        self._how = "complete"
        self._start: asyncio.Future[int | None] | None = None
        self._client: Client | None = None

    async def run(self) -> None:
        """From the first connection to the last row."""
        job, loop = self._job, asyncio.get_running_loop()
        client = self._client = Client(
            job.target,
            self._load,
            self._recorder,
            job.zero_ns,
            job.closed,
            job.limits,
            text_counter(job.tokenizer),
        )
        self._start = loop.create_future()
        self._orders.listen(self._told, self._cancel)
        loop.add_signal_handler(signal.SIGTERM, self._cancel)
        loop.add_signal_handler(signal.SIGINT, lambda: None)  # the parent decides what Ctrl-C means
        await client.prepare()
        self._reports.tell({"event": "ready"})
        start_ns = job.start_ns if job.start_ns is not None else await self._start
        if start_ns is None:
            client.cancel()
            start_ns = time.monotonic_ns()
        if job.duration_s is not None:
            left_s = (start_ns - time.monotonic_ns()) / 1e9 + job.duration_s
            loop.call_later(max(left_s, 0.0), client.drain)
        reporting = loop.create_task(self._report(client))
        try:
            await client.run(start_ns)
        finally:
            reporting.cancel()
            self._orders.ignore()
        self._reports.tell(self._last_line(client))

    def _told(self, words: str) -> None:
        name, _, value = words.partition(" ")
        if name == "start" and value.isdecimal():
            self._begin(int(value))
        elif name == "drain":
            self._how = "drained"
            self._begin(None)
            if self._client is not None:
                self._client.drain()
        elif name == "cancel":
            self._cancel()

    def _cancel(self) -> None:
        self._how = "cancelled"
        self._begin(None)
        if self._client is not None:
            self._client.cancel()

    def _begin(self, start_ns: int | None) -> None:
        if self._start is not None and not self._start.done():
            self._start.set_result(start_ns)

    async def _report(self, client: Client) -> None:
        while True:
            await asyncio.sleep(_REPORT_S)
            self._reports.tell_if_heard(client.counts.line(self._now_s(), client.unsent))

    def _last_line(self, client: Client) -> dict[str, Any]:
        line = client.counts.line(self._now_s(), client.unsent)
        return line | {
            "event": "ended",
            "how": self._how,
            "ttft_s": client.counts.ttft.to_json(),
            "late_s": client.counts.late.to_json(),
            "examples": dict(client.counts.examples),
            "health": client.health.to_json(),
        }

    def _now_s(self) -> float:
        return (time.monotonic_ns() - self._job.zero_ns) / 1e9


def _job(line: bytes) -> WorkerJob:
    try:
        return WorkerJob.from_json(json.loads(line))
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"The worker's standard input begins with no job ({type(error).__name__}); start it through `vram trial`."
        ) from None


def _load(job: WorkerJob) -> Iterator[PlannedRequest]:
    from vramledger.trial.load.job import load_from_json
    from vramledger.trial.load.opening import open_load
    from vramledger.trial.load.rest import open_rest

    load = load_from_json(job.load)
    if job.rest is not None:
        return open_rest(load, job.part, job.parts, job.rest)
    return open_load(load, job.part, job.parts)


if __name__ == "__main__":
    sys.exit(main())
