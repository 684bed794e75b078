"""The readiness gate as a run: its requests, GPU memory at each stage, and in run.json what came of it."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from vramledger import __version__
from vramledger.record.recorded_run import RecordedRun
from vramledger.trial.conduct.described import moment_of, wall_at
from vramledger.trial.conduct.readiness import ReadinessAsked, await_ready
from vramledger.trial.conduct.readiness_told import KEY, Readiness, to_json
from vramledger.trial.server.asking import base_of


def recorded_readiness(
    asked: ReadinessAsked, phase: Callable[[str], None], folder: Path
) -> Readiness:
    """Wait until a server is ready and record the way there in `folder`, which is new.

    Raises:
        BadInput: no address, it does not accept the key, or the folder cannot be written.
    """
    from vramledger.record.document import Clock, Description, Ended, Origin

    zero_ns = time.monotonic_ns()
    now = wall_at(zero_ns)
    about = Description(
        origin=Origin.MEASURED,
        name=f"readiness of {base_of(asked.url)}",
        client_version=__version__,
        clock=Clock(wall_at_zero=now),
        started_at=now,
    )
    with RecordedRun.start(folder, about) as run:
        found = await_ready(asked, phase, zero_ns, run)
        known: dict[str, Any] = {KEY: to_json(found)}
        if found.facts is not None:
            origin = Origin.REHEARSED if found.facts.rehearsal else Origin.MEASURED
            known |= {"in_effect": found.facts.deployment(), "origin": origin}
        run.update(**known)
        run.close(Ended.COMPLETE if found.ready else Ended.CUT, moment_of(time.time()))
    return found
