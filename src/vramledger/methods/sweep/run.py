"""A list of points simulated: known ones are taken, the others go to workers, all are kept."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, Self

from vramledger.frozen import frozen
from vramledger.methods.sweep.base import Base, digest, identity
from vramledger.methods.sweep.point import Point
from vramledger.methods.sweep.row import Row
from vramledger.methods.sweep.store import Store

Progress = Callable[[int, int], None]  # points that are done, and all


class Workers(Protocol):
    """Who simulates: rows come in any order."""

    def rows(self, base: Base, base_digest: str, points: Sequence[Point]) -> Iterator[Row]:
        """One row a point."""
        ...


@frozen
class Results:
    """The rows of the points that were asked, in their order; fewer where it was interrupted."""

    rows: tuple[Row, ...]
    asked: int
    reused: int  # taken from the file
    interrupted: bool = False


class Sweep:
    """Simulates points of one base, each once; used in a `with` block, whose end merges the file."""

    def __init__(self, base: Base, workers: Workers, file: Path | None = None) -> None:
        """Raises BadInput where the file cannot be used."""
        self.base = base
        named = identity(base)
        self._digest = digest(named)
        self._workers = workers
        self._store = None if file is None else Store(file, named)
        self._known: dict[str, Row] = dict(self._store.rows) if self._store else {}
        self._before = frozenset(self._known)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._store is not None:
            self._store.close()

    def play(self, points: Sequence[Point], progress: Progress) -> Results:
        """The rows of these points; Ctrl-C ends it with those that were done.

        Raises:
            BadInput: results cannot be written, or the workers cannot be reached.
        """
        hashes = {point: point.hash(self._digest) for point in points}
        missing = [point for point, named in hashes.items() if named not in self._known]
        reused = len(self._before.intersection(hashes.values()))
        done = len(hashes) - len(missing)
        progress(done, len(hashes))
        interrupted = False
        try:
            for row in self._workers.rows(self.base, self._digest, missing):
                self._keep(row)
                done += 1
                progress(done, len(hashes))
        except KeyboardInterrupt:
            interrupted = True
        return Results(self._asked(hashes.values()), len(hashes), reused, interrupted)

    def _keep(self, row: Row) -> None:
        self._known[row.columns["point"]] = row
        if self._store is not None:
            self._store.add(row)

    def _asked(self, hashes: Iterable[str]) -> tuple[Row, ...]:
        return tuple(self._known[named] for named in hashes if named in self._known)
