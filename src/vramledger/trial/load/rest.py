"""The rest of a load of which a part was sent before, by workers that are gone."""

from array import array
from collections.abc import Container, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from vramledger.frozen import frozen
from vramledger.trial.load.job import LoadJob
from vramledger.trial.load.opening import open_load
from vramledger.trial.planned import PlannedRequest


@frozen
class Rest:
    """What is left: all but the numbers in the file `done`, none of it due before `from_s` of the load."""

    done: str
    from_s: float

    def to_json(self) -> dict[str, Any]:
        """As JSON holds it."""
        return {"done": self.done, "from_s": self.from_s}


def write_done(numbers: Iterable[int], path: Path) -> None:
    """Keep the numbers that are not to be sent again.

    Raises:
        OSError: the file cannot be written.
    """
    path.write_bytes(array("q", numbers).tobytes())


def open_rest(job: LoadJob, part: int, parts: int, rest: Rest) -> Iterator[PlannedRequest]:
    """As `open_load`, without what was sent; what was due by then is due at `from_s`."""
    for planned in open_load(job, part, parts, _done(Path(rest.done))):
        due = planned.due_s
        late = due is not None and due < rest.from_s
        yield replace(planned, due_s=rest.from_s) if late else planned


def _done(path: Path) -> Container[int]:
    numbers = array("q")
    numbers.frombytes(path.read_bytes())
    return frozenset(numbers)
