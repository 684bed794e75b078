"""A run that begins when its server had served before: the earlier requests are not in its record."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ground_truth.engine import Engine
from ground_truth.recorded import Host, write
from ground_truth.world import Seen


def from_moment(
    folder: Path, draw: np.random.Generator, engine: Engine, seen: Seen, first: int, moment: float
) -> Path:
    """The requests from the one with number `first` on, with second 0 at `moment`."""
    served = seen.served

    def rows(values: Any) -> Any:
        return values[first:] - moment

    kept = replace(served.found, requests=served.found.requests[first:], steps=served.found.steps)
    later = replace(
        served, found=kept, queued_s=rows(served.queued_s), scheduled_s=rows(served.scheduled_s), first_s=rows(served.first_s),
        last_s=rows(served.last_s), step_start_s=served.step_start_s - moment, step_end_s=served.step_end_s - moment,
    )  # fmt: skip
    cut = replace(
        seen, due_s=rows(seen.due_s), dispatched_s=rows(seen.dispatched_s), headers_s=rows(seen.headers_s), reached_s=rows(seen.reached_s),
        first_s=rows(seen.first_s), last_s=rows(seen.last_s), stamps=[each - moment for each in seen.stamps[first:]],
        chunk_tokens=seen.chunk_tokens[first:], served=later, inputs=seen.inputs[first:], outputs=seen.outputs[first:],
        edges=seen.edges - moment,
    )  # fmt: skip
    return write(folder, engine, cut, Host(uptime_s=600.0), draw)
