"""Every step of a simulation as one line of JSON, as it comes.

A line is an element of ``steps`` in the answers of `oracle`: ``scheduled``, ``preempted``, ``running``,
``waiting``, ``kv_usage`` and ``finished``, as they are once the step's tokens are back. Requests are named by
their request_id. The plain loop runs, whatever its length; several engines write a file each.
"""

import json
from pathlib import Path
from types import TracebackType
from typing import IO

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.simulate.columns import columns_of
from vramledger.simulate.engine_load import EngineLoad
from vramledger.simulate.fast.records import FastOutcome
from vramledger.simulate.loop import simulate
from vramledger.simulate.oracle import step_line
from vramledger.simulate.request import Request
from vramledger.simulate.routing.engine import arrivals_of
from vramledger.simulate.scheduler import Scheduler
from vramledger.simulate.step import Step
from vramledger.written_file import refuse_place


@frozen
class StepTrace:
    """Where the lines go; `engines` is how many write."""

    path: Path
    engines: int = 1

    def file_of(self, number: int) -> Path:
        """The file of one engine: the path itself where there is one engine."""
        if self.engines == 1:
            return self.path
        return self.path.with_name(f"{self.path.stem}.engine-{number}{self.path.suffix}")

    def files(self) -> tuple[Path, ...]:
        """All files, in the order of the engines."""
        return tuple(self.file_of(number) for number in range(self.engines))

    def refuse_places(self) -> None:
        """Refuse before any work is done what would end in no trace.

        Raises:
            BadInput: a place cannot take a file.
        """
        for path in self.files():
            refuse_place(path, option="--trace-steps")
        if not self.path.parent.is_dir():
            raise BadInput(
                f"{self.path} cannot be written: {self.path.parent} is no folder; make it first."
            )

    def serve(self, part: EngineLoad) -> FastOutcome:
        """One engine's part by the plain loop, its steps written down.

        Raises:
            BadInput: for requests or costs that mean nothing, or a file that cannot be written.
        """
        part.cost.refuse_overflow(part.settings)
        names = [str(place) for place in part.places.tolist()]
        with _Lines(self.file_of(part.number)) as lines:
            ended = 0

            def observe(step: Step, over: list[Request], scheduler: Scheduler) -> None:
                nonlocal ended
                lines.write(json.dumps(step_line(step, over, scheduler, names)) + "\n")
                ended += len(over)
                part.advance(ended)

            arrivals = arrivals_of(part.load)
            outcome = simulate(part.settings, arrivals, part.cost, seed=part.seed, observe=observe)
        return columns_of(outcome)


class _Lines:
    """A file that appears whole or not at all."""

    def __init__(self, path: Path) -> None:
        self._path, self._part = path, path.with_name(f".{path.name}.part")
        self._file: IO[str] | None = None

    def __enter__(self) -> IO[str]:
        try:
            self._file = self._part.open("w", encoding="utf-8")
        except OSError as error:
            raise _unwritten(self._path, error) from None
        return self._file

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if self._file is not None:
                self._file.close()
            if kind is None:
                self._part.replace(self._path)
        except OSError as failed:
            raise _unwritten(self._path, failed) from None
        finally:
            self._part.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _unwritten(self._path, error) from None


def _unwritten(path: Path, error: OSError) -> BadInput:
    return BadInput(f"{path} cannot be written: {error.strerror}; choose another --trace-steps.")
