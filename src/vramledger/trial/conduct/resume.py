"""A run whose recorder vanished: what it still knows, and how it goes on."""

import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from vramledger.errors import BadInput, CannotKnow, VramError
from vramledger.frozen import frozen
from vramledger.record.closing import close_interrupted, writable
from vramledger.record.description import read_description
from vramledger.record.durable import file_sha256
from vramledger.record.journal import read_journal
from vramledger.record.merging import BEGUN
from vramledger.record.recorded_run import RecordedRun
from vramledger.record.requests import REQUESTS
from vramledger.record.samples import SERVER
from vramledger.record.segments import segments, whole_batches
from vramledger.trial.conduct.conduct import (
    LOAD,
    Conducted,
    close,
    ended_of,
    measured_part,
    recording,
    warm_up_part,
)
from vramledger.trial.conduct.described import moment_of
from vramledger.trial.conduct.history import Story, story_of
from vramledger.trial.conduct.interrupts import ended_as_by_ctrl_c
from vramledger.trial.conduct.staged import keep_stages
from vramledger.trial.conduct.standing import Standing, boot_id
from vramledger.trial.conduct.summary import trial_of
from vramledger.trial.conduct.watch import Watch, pages_of
from vramledger.trial.load.rest import Rest, write_done
from vramledger.trial.sampling import Sampler, sources_for
from vramledger.trial.sampling.target import authorization
from vramledger.trial.server import ask_server
from vramledger.trial.wire.target import key_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from vramledger.record.document import Description

_LEAVING_S: Final = 15.0
_WORKER: Final = b"vramledger.trial.client.worker"
_MOMENTS: Final = ("due_s", "dispatched_s", "last_content_s", "done_s")


@frozen
class Known:
    """What the segments of a run hold: the numbers of requests that were sent, how many were of a warm-up, and the last moment anything is known of."""

    numbers: frozenset[int]
    warmed: int
    to_s: float


@ended_as_by_ctrl_c()
def resume(folder: Path, watch: Watch) -> Conducted:
    """Go on with the rest of the load, on the same clock; the pause is in the journal.

    All that was due after the last moment known of is sent later by the length of the pause, so that every request is offered
    once and at the workload's own distances; what was due in the pause is neither left out nor sent in one burst. Requests that were under way stay as they were last seen. A run that was not yet measuring begins its warm-up anew.

    Raises:
        BadInput: no trial, closed already, still being recorded, or the server cannot be reached.
        CannotKnow: its workload or its clock is gone.
    """
    description = read_description(folder)
    standing = _standing(description)
    with recording(RecordedRun.resume(folder)) as run:
        try:
            _check(standing, folder)
            facts = ask_server(
                standing.server,
                key_of(standing.target),
                metrics_url=standing.metrics_url,
                closely=False,
            )
        except VramError:
            run.note(_now_s(standing), "not_resumed")
            close_as_killed(run)
            raise
        story = story_of(read_journal(folder).entries)
        _await_workers(story)
        watch.phase("finding what is left")
        before = known(folder)
        rest = _rest(run, standing, story, before)
        key = key_of(standing.target)
        sources = sources_for(
            pages_of(standing.metrics_url, authorization(key)),
            server=facts.base,
            gpu_metrics=standing.gpu_metrics,
            selector=standing.gpu_selector,
        )
        with Sampler(sources.sources, run, standing.zero_ns, standing.interval_s) as sampler:
            if rest is None and not standing.cold:
                watch.phase("warming up")
                warm_up_part(run, standing, _now_s(standing), before.warmed)
            before_s = story.spans[-1].load_zero_s if rest is not None else None
            course = measured_part(run, standing, sampler, watch, rest, before_s)
            watch.phase("closing the record")
        keep_stages(run, standing)
        run.note(_now_s(standing), "phase", name="closing")
        close(run, ended_of(course, standing))
    return Conducted(folder, course)


def close_only(folder: Path) -> None:
    """Close a run without going on; a closed one stays as it is.

    Raises:
        BadInput: no run, still being recorded, or it cannot be written.
    """
    close_interrupted(folder, moment_of(time.time()))
    shutil.rmtree(folder / LOAD, ignore_errors=True)


def close_as_killed(run: RecordedRun) -> None:
    """Close a run that cannot go on."""
    from vramledger.record.document import Ended

    close(run, Ended.KILLED)


def known(folder: Path) -> Known:
    """What was recorded before the recorder vanished.

    Raises:
        BadInput: the segments cannot be read.
    """
    import numpy as np

    numbers: list[int] = []
    last = 0.0
    for batch in _requests(folder):
        numbers += batch.column("request_id").to_pylist()
        for name in _MOMENTS:
            told = batch.column(name).drop_null().to_numpy()
            last = max(last, float(np.max(told, initial=0.0)))
    for batch in whole_batches(SERVER, segments(folder, SERVER.name)):
        last = max(last, float(np.max(batch.column("t_s").to_numpy(), initial=0.0)))
    warmed = -min(numbers, default=0)
    return Known(frozenset(number for number in numbers if number >= 0), max(warmed, 0), last)


def _requests(folder: Path) -> "Iterator[pa.RecordBatch]":
    for name in (REQUESTS.name, BEGUN):
        yield from whole_batches(REQUESTS, segments(folder, name))


def _rest(run: RecordedRun, standing: Standing, story: Story, found: Known) -> Rest | None:
    """What is left of the load; None where nothing of it was sent."""
    if not story.spans:
        run.note(_now_s(standing), "resumed", known_to_s=0.0, sent=0)
        return None
    place = run.folder.absolute() / LOAD / "sent.bin"
    with writable(run.folder):
        place.parent.mkdir(exist_ok=True)
        write_done(sorted(found.numbers), place)
    to_s = max(found.to_s, story.spans[-1].from_s)
    run.note(_now_s(standing), "resumed", known_to_s=to_s, sent=len(found.numbers))
    return Rest(str(place), max(to_s - story.spans[-1].load_zero_s, 0.0))


def _check(standing: Standing, folder: Path) -> None:
    if boot_id() != standing.boot_id:
        raise CannotKnow(
            f"{folder} was recorded before this machine was started again, and its clock went with that; the run is closed "
            "as it is, so start another."
        )
    source = Path(standing.load.workload)
    if not source.is_file() or file_sha256(source) != standing.load_sha256:
        raise CannotKnow(
            f"{source}, from which {folder} takes its load, is gone or was changed; the run is closed as it is, so start "
            "another."
        )


def _standing(description: "Description") -> Standing:
    """The trial as it stood.

    Raises:
        BadInput: its description is another version's, or damaged.
    """
    from vramledger.trial.conduct.trial_key import check_trial

    kept = _kept(trial_of(description))
    check_trial(description.name, kept)
    try:
        return Standing.from_json(kept)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise BadInput(
            f"The run {description.name!r}: trial.load or trial.target in its run.json has keys or values that no trial of "
            "this version has; use an unchanged copy, or close it with --close."
        ) from None


def _kept(trial: dict[str, object]) -> dict[str, object]:
    """The keys that `Standing` has."""
    from dataclasses import fields

    names = {each.name for each in fields(Standing)}
    missing = sorted(names - trial.keys())
    if missing:
        raise BadInput(
            f"The run's description lacks {', '.join(missing)}; it was recorded by another version, so close it with "
            "--close."
        )
    return {name: trial[name] for name in names}


def _await_workers(story: Story) -> None:
    """Wait for the workers of the recorder that vanished: they end by themselves.

    Raises:
        BadInput: one does not.
    """
    end = time.monotonic() + _LEAVING_S
    while any(_is_worker(pid) for pid in story.pids):
        if time.monotonic() > end:
            raise BadInput(
                "A worker of this run is still sending; wait until it has ended, or stop it."
            )
        time.sleep(0.05)


def _is_worker(pid: int) -> bool:
    if pid == os.getpid():
        return False
    try:
        return _WORKER in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _now_s(standing: Standing) -> float:
    return (time.monotonic_ns() - standing.zero_ns) / 1e9
