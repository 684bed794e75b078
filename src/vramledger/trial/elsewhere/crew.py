"""The workers of a trial on the machines of a Ray cluster.

Each is a process there, held by an actor (`hand`). Its orders carry moments of its own clock and its rows come on the run's: what the
offset of the clocks is, was measured before it began. Several times a second each is asked for news, and the segments that it wrote meanwhile
are written here, so that whoever is killed, the record lacks the last second at most.
"""

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Final, Self

from vramledger import __version__
from vramledger.cluster import connected
from vramledger.errors import BadInput, CannotKnow
from vramledger.record.closing import writable
from vramledger.record.recorded_run import RecordedRun
from vramledger.trial.client.job import WorkerJob
from vramledger.trial.conduct.crew import Worker
from vramledger.trial.elsewhere.hand import Hand, Host, News
from vramledger.trial.elsewhere.landing import Landing
from vramledger.trial.elsewhere.luggage import files_of, packed
from vramledger.trial.elsewhere.offset import Offset, measured
from vramledger.trial.wire.target import key_of

_EVERY_S: Final = (
    0.2  # with the half second between two flushes there, under the second that may be lost
)
_PLACED_S: Final = 60.0
_ENDING_S: Final = 30.0
_S: Final = 1e9


def cores_of(address: str) -> int:
    """The cores of a cluster.

    Raises:
        BadInput: none answers there, or it has none.
    """
    with connected(address) as ray:
        found = int(ray.cluster_resources().get("CPU", 0))
    if not found:
        raise BadInput(f"The Ray cluster at {address} has no cores; add a machine with ray start.")
    return found


class FarWorker(Worker):
    """One worker on a machine of the cluster; `waiting` is the question that is on its way."""

    def __init__(self, job: WorkerJob, actor: Any, host: Host, offset: Offset) -> None:
        super().__init__(job.writer)
        self.actor, self.host, self.offset = actor, host, offset
        self.pid = 0
        self.orders: list[str] = []
        self.waiting: Any = None
        self.asked_s = 0.0
        self.is_all = False
        self._why = ""

    @property
    def about(self) -> Mapping[str, Any]:
        offset = self.offset
        return {"pid": self.pid, "host": self.host.name, "ahead_s": offset.ahead_ns / _S, "error_s": offset.error_ns / _S}  # fmt: skip

    def tell(self, words: str) -> None:
        """Moments go out as those of its own clock."""
        name, _, moment = words.partition(" ")
        self.orders.append(f"start {int(moment) + self.offset.ahead_ns}" if name == "start" else words)  # fmt: skip

    def end_words(self) -> str:
        return self._why or "the cluster no longer answers for it"

    def went(self, why: str) -> None:
        """Nothing more comes of it."""
        self._why = why
        self.is_all = True
        self.lost = not self.is_done


class RayCrew:
    """All of them, started, each on a machine of its own where there are enough.

    Raises:
        BadInput: no cluster answers, a machine has another version of this package, or there are too few cores.
    """

    head_start_ns = 1_000_000_000

    def __init__(self, address: str, jobs: Sequence[WorkerJob], run: RecordedRun) -> None:
        self.workers: list[FarWorker] = []
        self._address, self._folder = address, run.folder
        with writable(run.folder):
            self._landing = Landing(run.folder)
        with ExitStack() as stack:
            self._ray = stack.enter_context(connected(address))
            stack.callback(self._end_all)
            self._hire(jobs)
            self._keep_offsets(run)
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._drain()
        finally:
            self._stack.close()

    def tell(self, words: str) -> None:
        """Give all of them an order."""
        for worker in self.workers:
            worker.tell(words)

    def listen(self, seconds: float) -> list[tuple[Worker, Mapping[str, Any]]]:
        """Reports that come within this time, each with its worker; segments are written as they come."""
        until = time.monotonic() + seconds
        while True:
            self._ask()
            found = self._answers(max(until - time.monotonic(), 0.0))
            left = until - time.monotonic()
            if found or left <= 0:
                return found
            time.sleep(min(left, 0.02))  # none is on its way, or each has nothing new

    def finish(self) -> Mapping[str, Any]:
        """Their last rows are here, and by how much clocks were off, with what they changed meanwhile."""
        self._drain()
        said = {}
        for worker in self.workers:
            later = self._offset(worker.actor)
            if later is not None:
                error = worker.offset.drifted(later) / _S
                said[worker.name] = {"host": worker.host.name, "ahead_s": worker.offset.ahead_ns / _S, "error_s": error}  # fmt: skip
        return {"workers": said}

    def _hire(self, jobs: Sequence[WorkerJob]) -> None:
        ray = self._ray
        cores = int(ray.cluster_resources().get("CPU", 0))
        if len(jobs) > cores:
            raise BadInput(
                f"The Ray cluster at {self._address} has {cores} cores, and {len(jobs)} workers need one each; take fewer with "
                "--workers."
            )
        make = ray.remote(Hand).options(num_cpus=1, scheduling_strategy="SPREAD", max_restarts=0)
        actors = [make.remote() for _ in jobs]
        hosts = self._placed([actor.host.remote() for actor in actors])
        files = ray.put(files_of(jobs[0]))  # the same of every job
        key = key_of(jobs[0].target)
        for job, actor, host in zip(jobs, actors, hosts, strict=True):
            offset = self._offset(actor)
            if offset is None:
                raise CannotKnow(f"The Ray cluster at {self._address} lost a worker before it began; look at its logs and run it again.")  # fmt: skip
            worker = FarWorker(job, actor, host, offset)
            self.workers.append(worker)
            there = packed(job, offset.ahead_ns, with_key=key is not None).to_json()
            worker.pid = ray.get(actor.begin.remote(there, files, key))

    def _placed(self, questions: "list[Any]") -> "list[Host]":
        """The machines that the workers are on."""
        ray = self._ray
        try:
            hosts: list[Host] = ray.get(questions, timeout=_PLACED_S)
        except ray.exceptions.GetTimeoutError:
            raise BadInput(
                f"The Ray cluster at {self._address} has no {len(questions)} free cores within {_PLACED_S:g} s; wait for what "
                "else runs there, or take fewer with --workers."
            ) from None
        except ray.exceptions.RayError as error:
            raise BadInput(
                f"A machine of the Ray cluster at {self._address} cannot send ({type(error).__name__}); install "
                f"'vramledger[full]=={__version__}' on each of them."
            ) from None
        for host in hosts:
            if host.version != __version__:
                raise BadInput(
                    f"{host.name} of the Ray cluster at {self._address} has vramledger {host.version}, and {__version__} asks; "
                    "install the same on each of them."
                )
        return hosts

    def _offset(self, actor: Any) -> Offset | None:
        """None where it is gone."""
        ray = self._ray
        try:
            return measured(lambda: int(ray.get(actor.clock.remote())), time.monotonic_ns)
        except ray.exceptions.RayError:
            return None

    def _keep_offsets(self, run: RecordedRun) -> None:
        """Offsets and errors stand in run.json beside those of servers, by worker."""
        clock = run.description.clock
        ahead = {worker.name: worker.offset.ahead_ns / _S for worker in self.workers}
        errors = {worker.name: worker.offset.error_ns / _S for worker in self.workers}
        run.update(
            clock=clock.model_copy(
                update={
                    "offsets_s": clock.offsets_s | ahead,
                    "offset_errors_s": clock.offset_errors_s | errors,
                }
            )
        )

    def _ask(self) -> None:
        """A question to each that has none on its way: at once with orders, else every fifth of a second."""
        now = time.monotonic()
        for worker in self.workers:
            due = bool(worker.orders) or now - worker.asked_s >= _EVERY_S
            if worker.waiting is None and not worker.is_all and due:
                orders, worker.orders = worker.orders, []
                worker.waiting, worker.asked_s = worker.actor.exchange.remote(orders), now

    def _answers(self, seconds: float) -> list[tuple[Worker, Mapping[str, Any]]]:
        ray = self._ray
        waiting = {worker.waiting: worker for worker in self.workers if worker.waiting is not None}
        if not waiting:
            return []
        done, _ = ray.wait(list(waiting), num_returns=1, timeout=seconds)
        found: list[tuple[Worker, Mapping[str, Any]]] = []
        for one in done:
            worker = waiting[one]
            worker.waiting = None
            try:
                news: News = ray.get(one)
            except ray.exceptions.RayError as error:
                worker.went(f"the cluster lost it: {type(error).__name__}")
                continue
            found += self._heard(worker, news)
        return found

    def _heard(self, worker: FarWorker, news: News) -> list[tuple[Worker, Mapping[str, Any]]]:
        with writable(self._folder):
            for piece in news.pieces:
                self._landing.take(piece)
        reports = worker.heard(news.reports) if news.reports else ()
        if news.is_all:
            code = news.exit_code or 0
            worker.went(f"signal {-code}" if code < 0 else f"exit code {code}")
        return [(worker, report) for report in reports]

    def _drain(self) -> None:
        """End orders, and take what is left of the rows of all that still answer."""
        for worker in self.workers:
            if not worker.is_all:
                worker.actor.close_orders.remote()
        end = time.monotonic() + _ENDING_S
        while not all(worker.is_all for worker in self.workers) and time.monotonic() < end:
            self.listen(0.1)

    def _end_all(self) -> None:
        """No process and no folder is left there, as far as the cluster answers."""
        ray = self._ray
        ends = [worker.actor.end.remote() for worker in self.workers]
        if ends:
            ray.wait(ends, num_returns=len(ends), timeout=_ENDING_S)
        for worker in self.workers:
            ray.kill(worker.actor)
