"""A trial, whole: the server is asked, the load made, the record begun, the server warmed, the load sent, the record closed."""

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Final

from vramledger.frozen import frozen
from vramledger.record.closing import writable
from vramledger.record.computed_run import refuse_folder
from vramledger.record.durable import file_sha256
from vramledger.record.recorded_run import RecordedRun
from vramledger.trial.client.text_counter import text_counter
from vramledger.trial.conduct.approach import Approached, approach, key_for
from vramledger.trial.conduct.asked import TrialAsked
from vramledger.trial.conduct.course import Conductor, Course, jobs_of
from vramledger.trial.conduct.described import describe, moment_of
from vramledger.trial.conduct.interrupts import ended_as_by_ctrl_c
from vramledger.trial.conduct.sockets import check_sockets
from vramledger.trial.conduct.staged import keep_stages
from vramledger.trial.conduct.standing import Standing, boot_id
from vramledger.trial.conduct.warming import warm
from vramledger.trial.conduct.watch import Watch, pages_of
from vramledger.trial.load.rest import Rest
from vramledger.trial.sampling import Sampler, Sources, sources_for
from vramledger.trial.sampling.target import authorization
from vramledger.trial.server.reset import reset_prefix_cache
from vramledger.trial.stages.told import TRACE_DIGITS
from vramledger.trial.wire.target import key_of

if TYPE_CHECKING:
    from vramledger.record.document import Ended

LOAD: Final = "load"  # folder of what workers read, inside the run's while it is recorded
_MOST_WORKERS: Final = 16


@frozen
class Conducted:
    """A run that is closed, how its load went, and what the server said of failures (for a terminal, not for a record)."""

    folder: Path
    course: Course


@ended_as_by_ctrl_c()
def conduct(asked: TrialAsked, folder: Path, watch: Watch) -> Conducted:
    """Run a trial and record it in `folder`, which is new.

    Raises:
        BadInput: the server, the key, the load or the folder cannot be used.
        UnknownName: a scenario that is none.
        CannotKnow: lengths cannot be made exact, or nothing is answered.
        KeyboardInterrupt: Ctrl-C, SIGTERM or the loss of the terminal, before or after the measured part.
    """
    refuse_folder(folder)
    asked = replace(asked, workers=_workers(asked))
    if asked.ray is None:
        check_sockets(asked.closed, asked.workers or 1)
    with _scratch(folder) as scratch:
        watch.phase("asking the server, counting its tokens")
        found = approach(asked, scratch)
        key = key_for(asked)
        sources = sources_for(
            pages_of(found.facts.metrics_url, authorization(key)),
            server=found.facts.base,
            gpu_metrics=asked.gpu_metrics,
            selector=asked.gpu_selector,
        )
        standing = _standing(asked, found, sources, folder, scratch)
        description = describe(asked, found, sources, standing)
        with recording(RecordedRun.start(folder, description)) as run:
            with writable(folder):
                scratch.rename(folder / LOAD)
            course = _recorded(run, asked, found, sources, standing, watch)
            close(run, ended_of(course, standing))
    return Conducted(folder, course)


@contextmanager
def recording(run: RecordedRun) -> Iterator[RecordedRun]:
    """The run while it is recorded; where an error closes it, what only workers needed goes as well."""
    try:
        with run:
            yield run
    finally:
        if run.closed:
            shutil.rmtree(run.folder / LOAD, ignore_errors=True)


def close(run: RecordedRun, ended: "Ended") -> None:
    """Make the tables and seal the run."""
    watch_s = time.time()
    run.close(ended, moment_of(watch_s))


def measured_part(
    run: RecordedRun,
    standing: Standing,
    sampler: Sampler,
    watch: Watch,
    rest: Rest | None = None,
    zero_before_s: float | None = None,
) -> Course:
    """Send the load, or the rest of it; `zero_before_s` is when second 0 of the load was before it was cut off.

    Raises:
        VramError: a worker could not go on, or the run cannot be written.
    """
    watch.phase("starting the client")
    position_s = 0.0 if rest is None else rest.from_s
    conductor = Conductor(run, standing, sampler, watch, position_s, zero_before_s)
    return conductor.lead(jobs_of(standing, str(run.folder.absolute()), rest))


def ended_of(course: Course, standing: Standing) -> "Ended":
    """How a run ended whose load went so."""
    from vramledger.record.document import Ended

    if course.lost:
        return Ended.FAILED
    if course.how in ("drained", "cancelled"):
        return Ended.INTERRUPTED
    cut = course.how == "drain_limit" or standing.load.duration_s is not None
    return Ended.CUT if cut else Ended.COMPLETE


def warm_up_part(run: RecordedRun, standing: Standing, now_s: float, first: int = 0) -> None:
    """Warm the server up, apart from what is measured; `first` requests were sent so before.

    Raises:
        CannotKnow: nothing is answered.
    """
    run.note(now_s, "phase", name="warm_up")
    count = text_counter(standing.tokenizer)
    plain = replace(standing.target, trace=None)  # its numbers are those of the load too
    found = warm(plain, standing.load, run.append, standing.zero_ns, first, count)
    run.note(
        (time.monotonic_ns() - standing.zero_ns) / 1e9,
        "warm_up_ended",
        stable=found.stable,
        round_s=list(found.round_s),
        requests=found.requests,
        lengths=found.lengths.to_json(),
        said=found.lengths.sentence(),
    )


def _recorded(
    run: RecordedRun,
    asked: TrialAsked,
    found: Approached,
    sources: Sources,
    standing: Standing,
    watch: Watch,
) -> Course:
    def now_s() -> float:
        return (time.monotonic_ns() - standing.zero_ns) / 1e9

    with Sampler(sources.sources, run, standing.zero_ns, asked.interval_s) as sampler:
        if asked.cold:
            reset = reset_prefix_cache(found.facts, key_of(standing.target))
            run.note(now_s(), "prefix_cache_reset", done=reset.done, why=reset.why)
        else:
            watch.phase("warming up")
            warm_up_part(run, standing, now_s())
        course = measured_part(run, standing, sampler, watch)
        watch.phase("closing the record")
    keep_stages(run, standing)
    run.note(now_s(), "phase", name="closing")
    return course


def _standing(
    asked: TrialAsked, found: Approached, sources: Sources, folder: Path, scratch: Path
) -> Standing:
    job = found.prepared.job
    source = Path(job.workload)
    traces = asked.trace_ids or asked.stages is not None
    if source.parent == scratch.absolute():  # made for this load; it moves into the run's folder
        job = replace(job, workload=str(folder.absolute() / LOAD / source.name))
    return Standing(
        target=replace(found.target, trace=token_hex(TRACE_DIGITS // 2))
        if traces
        else found.target,
        load=job,
        load_sha256=file_sha256(source),
        workers=asked.workers or 1,
        ray=asked.ray,
        zero_ns=time.monotonic_ns(),
        boot_id=boot_id(),
        metrics_url=found.facts.metrics_url,
        server=found.facts.base,
        gpu_metrics=asked.gpu_metrics,
        gpu_selector=asked.gpu_selector,
        interval_s=asked.interval_s,
        drain_s=asked.drain_s,
        on_interrupt=str(asked.on_interrupt),
        cold=asked.cold,
        rate_scale=asked.part.rate_scale,
        prompts_said=found.said,
        kv_tokens=found.facts.seen.kv_tokens,
        tokenizer=found.tokenizer,
        stages=None if asked.stages is None else str(asked.stages.absolute()),
        clock_ahead_s=found.facts.clock_offset_s,
        clock_error_s=found.facts.clock_error_s,
        warnings=(*found.warnings, *found.effects, *found.prepared.report.sentences()),
        unseen=(*found.facts.unseen, *sources.unseen),
    )


def _workers(asked: TrialAsked) -> int:
    """As asked, else one a core; in a closed loop no more than there are places."""
    wanted = asked.workers or min(_cores(asked), _MOST_WORKERS)
    return wanted if asked.closed is None else max(min(wanted, asked.closed), 1)


def _cores(asked: TrialAsked) -> int:
    """For workers: those of the cluster, or those here less one for this process."""
    if asked.ray is None:
        return max(len(os.sched_getaffinity(0)) - 1, 1)
    from vramledger.trial.elsewhere.crew import cores_of

    return cores_of(asked.ray)


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """A folder beside the run's, on the same disk."""
    with writable(folder):
        above = folder.absolute().parent
        above.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=above))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
