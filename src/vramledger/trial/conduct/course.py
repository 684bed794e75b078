"""The measured part: workers send the load, until it has ended or somebody ends it."""

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.record.recorded_run import RecordedRun
from vramledger.trial.client.job import WorkerJob, places_of
from vramledger.trial.conduct.crew import Workers, all_done, all_ready
from vramledger.trial.conduct.hired import hired
from vramledger.trial.conduct.interrupts import Interrupts
from vramledger.trial.conduct.on_interrupt import OnInterrupt
from vramledger.trial.conduct.standing import Standing
from vramledger.trial.conduct.watch import Recent, Watch
from vramledger.trial.load.rest import Rest
from vramledger.trial.sampling import Sampler

_LISTEN_S: Final = 0.1
_SHOW_S: Final = 0.5
_GIVING_UP_S: Final = 20.0
_REPORTED: Final = ("how", "sent", "ended", "failures", "tokens", "late_s", "health")


@frozen
class Course:
    """How it went: `how` is complete, drain_limit, drained or cancelled; `lost` names workers that vanished.

    `examples` are the server's own words by class of failure, for a terminal and no record.
    """

    how: str
    lost: tuple[str, ...]
    examples: dict[str, str]


def jobs_of(standing: Standing, folder: str, rest: Rest | None = None) -> tuple[WorkerJob, ...]:
    """The jobs of the workers, each on a core of its own where there are enough."""
    load, parts = standing.load, standing.workers
    return tuple(
        WorkerJob(
            target=standing.target,
            load=load.to_json(),
            folder=folder,
            zero_ns=standing.zero_ns,
            writer=f"worker-{part}",
            part=part,
            parts=parts,
            closed=places_of(load.closed, part, parts),
            duration_s=load.duration_s,
            cpu=cpu,
            rest=rest,
            tokenizer=standing.tokenizer,
        )
        for part, cpu in enumerate(cores_for(parts))
    )


def cores_for(workers: int) -> tuple[int | None, ...]:
    """A core for each worker: the last ones, so that the first is left to the parent; none where there are too few."""
    cores = sorted(os.sched_getaffinity(0))
    if workers >= len(cores) > 1 or workers > len(cores):
        return (None,) * workers
    return tuple(cores[-workers:]) if len(cores) > 1 else (None,) * workers


class Conductor:
    """Leads the workers through the measured part of one run.

    `position_s` is the second of the load at which to begin: 0, or where an earlier part was cut off. `zero_before_s` is
    the second of the run that was second 0 of the load in that part: what is left is sent as much later as the pause was long.
    """

    def __init__(
        self,
        run: RecordedRun,
        standing: Standing,
        sampler: Sampler,
        watch: Watch,
        position_s: float = 0.0,
        zero_before_s: float | None = None,
    ) -> None:
        self._run, self._standing, self._sampler, self._watch = run, standing, sampler, watch
        self._position_s, self._zero_before_s = position_s, zero_before_s
        self._recent = Recent()
        self._how = "complete"
        self._heeded = 0  # interrupts that were acted upon
        self._drain_ends_s: float | None = None
        self._cancelled_s: float | None = None
        self._last_sent = (0, 0.0)
        self._shown_s = self._began_s = 0.0

    def lead(self, jobs: Sequence[WorkerJob]) -> Course:
        """Run the workers to their ends.

        Raises:
            VramError: a worker could not go on, or what was seen could not be recorded.
        """
        with Interrupts() as interrupts, hired(self._standing, jobs, self._run) as crew:
            for worker in crew.workers:
                self._note("worker_started", writer=worker.name, **worker.about)
            self._await_ready(crew, interrupts)
            self._start(crew)
            while not all_done(crew):
                self._hear(crew, _LISTEN_S)
                self._sampler.check()
                self._heed(crew, interrupts)
                self._mind_the_end(crew)
                self._show(crew)
            lost = self._take_leave(crew)
        examples = {k: v for w in crew.workers for k, v in ((w.ended or {}).get("examples") or {}).items()}  # fmt: skip
        return Course(self._how, lost, examples)

    @property
    def now_s(self) -> float:
        """Seconds of the run."""
        return (time.monotonic_ns() - self._standing.zero_ns) / 1e9

    def _note(self, event: str, **details: Any) -> None:
        self._run.note(self.now_s, event, **details)

    def _await_ready(self, crew: Workers, interrupts: Interrupts) -> None:
        while not all_ready(crew):
            self._hear(crew, _LISTEN_S)
            self._heed(crew, interrupts)

    def _start(self, crew: Workers) -> None:
        """Second `position_s` of the load is now, or nearly."""
        start_ns = time.monotonic_ns() + crew.head_start_ns
        load_zero_ns = start_ns - round(self._position_s * 1e9)
        load_zero_s = (load_zero_ns - self._standing.zero_ns) / 1e9
        before = self._zero_before_s
        later = {} if before is None else {"later_s": load_zero_s - before}
        self._run.note(
            (start_ns - self._standing.zero_ns) / 1e9,
            "phase",
            name="measured",
            load_zero_s=load_zero_s,
            position_s=self._position_s,
            **later,
        )
        self._began_s = self.now_s
        crew.tell(f"start {load_zero_ns}")
        self._watch.phase("measuring")

    def _hear(self, crew: Workers, seconds: float) -> None:
        for worker, report in crew.listen(seconds):
            self._recent.add(self.now_s, report)
            if report["event"] == "ended":
                self._note("worker_ended", writer=worker.name, **{k: report[k] for k in _REPORTED})
        failed = [worker.failure for worker in crew.workers if worker.failure is not None]
        if failed:
            raise failed[0]

    def _heed(self, crew: Workers, interrupts: Interrupts) -> None:
        """Act on what was interrupted since the last look: drain first if so wished, cancel the second time."""
        if interrupts.count <= self._heeded:
            return
        self._heeded = interrupts.count
        drains = self._standing.on_interrupt == OnInterrupt.DRAIN and interrupts.count == 1
        self._how = "drained" if drains else "cancelled"
        self._note("interrupted", how=self._how)
        if drains:
            self._watch.phase("draining (Ctrl-C once more cancels what is under way)")
            crew.tell("drain")
            self._drain_ends_s = self.now_s + self._standing.drain_s
        else:
            self._cancel(crew)

    def _mind_the_end(self, crew: Workers) -> None:
        """Cancel what is under way too long after the last request was sent, and end what does not heed that."""
        sent = sum((worker.ended or worker.progress).get("sent", 0) for worker in crew.workers)
        now = self.now_s
        if sent != self._last_sent[0]:
            self._last_sent = (sent, now)
        if self._cancelled_s is not None:
            if now > self._cancelled_s + _GIVING_UP_S:
                raise CannotKnow(
                    "A worker of the client does not end; the run is closed without it."
                )
            return
        ends = self._drain_ends_s
        if ends is None and self._load_is_over(now):
            ends = max(self._last_sent[1], self._over_s()) + self._standing.drain_s
        if ends is not None and now > ends:
            self._note("drain_limit", seconds=self._standing.drain_s)
            self._how = "drain_limit" if self._how == "complete" else self._how
            self._cancel(crew)

    def _over_s(self) -> float:
        """When the last request of the load was due, as far as the load tells."""
        load = self._standing.load
        length = load.duration_s if load.duration_s is not None else load.period_s
        return self._began_s + length - self._position_s

    @property
    def _is_unbounded(self) -> bool:
        """Whether only the last answer tells when the load is over."""
        load = self._standing.load
        return load.closed is not None and load.duration_s is None

    def _load_is_over(self, now: float) -> bool:
        return not self._is_unbounded and now > self._over_s()

    def _cancel(self, crew: Workers) -> None:
        self._watch.phase("ending what is under way")
        crew.tell("cancel")
        self._cancelled_s = self.now_s

    def _show(self, crew: Workers) -> None:
        now = self.now_s
        if now - self._shown_s >= _SHOW_S:
            self._shown_s = now
            seen = self._recent.snapshot(now, crew.workers, self._sampler)
            self._watch.show(replace(seen, over_s=None if self._is_unbounded else self._over_s()))

    def _take_leave(self, crew: Workers) -> tuple[str, ...]:
        """Say who was lost."""
        lost = [worker for worker in crew.workers if worker.lost]
        for worker in lost:
            self._note("worker_lost", writer=worker.name, why=worker.end_words())
        said = crew.finish()
        self._note("phase", name="drained", how=self._how)
        if said:
            self._note("client_clocks", **said)
        return tuple(worker.name for worker in lost)
