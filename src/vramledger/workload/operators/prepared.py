"""The part of a stored workload that is served: a scenario of it, at another rate."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vramledger.frozen import frozen
from vramledger.workload.operators.change import Progress, silent


@frozen
class Part:
    """A workload, a scenario of it (None: all), and the factor on its rate of arrivals."""

    workload: Path
    scenario: str | None = None
    rate_scale: float = 1.0

    @property
    def is_whole(self) -> bool:
        """Whether its rows are those of the workload."""
        return self.scenario is None and self.rate_scale == 1


@contextmanager
def prepared(part: Part, seed: int, progress: Progress = silent) -> Iterator[Path]:
    """A file with the requests of the part; while the block lasts. `progress` is told of its making.

    Raises:
        BadInput: no workload, nothing in the part, or a factor out of range.
        UnknownName: no scenario of that name.
        CannotKnow: the workload does not have the scenario.
    """
    with tempfile.TemporaryDirectory(prefix="vram-part-") as folder:
        yield prepare(part, seed, Path(folder), progress)


def prepare(part: Part, seed: int, folder: Path, progress: Progress = silent) -> Path:
    """The workload itself, or a file in `folder` with the requests of the part.

    Raises:
        BadInput: no workload, nothing in the part, a factor out of range, or the folder cannot be written.
        UnknownName: no scenario of that name.
        CannotKnow: the workload does not have the scenario.
    """
    from vramledger.workload.operators.scale import Scale, scale
    from vramledger.workload.operators.slice_ import Selection, slice_workload

    path = part.workload
    if part.scenario is not None:
        out = folder / "scenario.parquet"
        slice_workload(path, Selection(scenario=part.scenario, seed=seed), out)
        path = out
    if part.rate_scale != 1:
        out = folder / "scaled.parquet"
        scale(path, Scale(rate=part.rate_scale, seed=seed, option="--rate-scale"), out, progress)
        path = out
    return path
