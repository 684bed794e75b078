"""The stages that a gateway or the engine told of a run's requests, read when its load is over."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from vramledger.errors import BadInput
from vramledger.record.merging import BEGUN
from vramledger.record.recorded_run import RecordedRun
from vramledger.record.requests import REQUESTS
from vramledger.record.segments import segments, whole_batches
from vramledger.trial.conduct.standing import Standing
from vramledger.trial.stages.reading import OnTheRun, Stages, read_stages

_LONGEST_S: Final = 10.0  # exporters send spans in batches, five seconds apart by default
_PAUSE_S: Final = 1.0


def keep_stages(run: RecordedRun, standing: Standing) -> None:
    """Put the stages of the file that was named into the record; what went wrong with it is in the journal.

    Waits some seconds for the last of them, while they go on coming.
    """
    if standing.stages is None:
        return
    try:
        found = _settled(Path(standing.stages), on_the_run(run, standing))
    except BadInput as error:
        run.note(_now_s(standing), "stages_unread", why=str(error))
        return
    for row in found.rows:
        run.append(row)
    run.note(
        _now_s(standing),
        "stages_read",
        requests=found.requests,
        stages=len(found.rows),
        lines=found.lines,
        unread=found.unread,
        of_others=found.others,
        ahead_s=standing.clock_ahead_s,
        error_s=standing.clock_error_s,
    )


def on_the_run(run: RecordedRun, standing: Standing) -> OnTheRun:
    """How the file's moments become the run's; its clock is taken to be the server's."""
    numbers: dict[str, int] = {}
    for name in (REQUESTS.name, BEGUN):
        for batch in whole_batches(REQUESTS, segments(run.folder, name)):
            ids = batch.column("server_request_id").to_pylist()
            for number, told in zip(batch.column("request_id").to_pylist(), ids, strict=True):
                numbers |= dict.fromkeys(_spelled(told), number)
    wall_zero_ns = time.time_ns() - (time.monotonic_ns() - standing.zero_ns)
    ahead_s = standing.clock_ahead_s or 0.0
    return OnTheRun(wall_zero_ns, ahead_s, standing.target.trace, numbers)


def _spelled(name: str | None) -> Iterator[str]:
    """A server's name of a request, and as its engine writes it: completions carry the number of the choice."""
    if name is not None:
        yield name
        yield f"{name}-0"


def _settled(path: Path, clock: OnTheRun) -> Stages:
    end = time.monotonic() + _LONGEST_S
    found = read_stages(path, clock)
    while time.monotonic() < end:
        time.sleep(_PAUSE_S)
        again = read_stages(path, clock)
        if found.rows and len(again.rows) == len(found.rows):
            return again
        found = again
    return found


def _now_s(standing: Standing) -> float:
    return (time.monotonic_ns() - standing.zero_ns) / 1e9
