"""A list of points simulated: known ones are taken, the others go to workers, all are kept."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Protocol, Self

from vramledger.frozen import frozen
from vramledger.methods.sweep.base import Base, digest, identity
from vramledger.methods.sweep.depth import FULL, Depth
from vramledger.methods.sweep.point import Point
from vramledger.methods.sweep.row import Row
from vramledger.methods.sweep.store import Store

_KNEE: Final = ("knee", "knee_level", "knee_per_s")

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
        self._screened: dict[str, Row] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._store is not None:
            self._store.close()

    def play(
        self,
        points: Sequence[Point],
        progress: Progress,
        *,
        knee: bool = False,
        ends: bool = True,
    ) -> Results:
        """The rows of these points, with their highest loads where `knee`; Ctrl-C ends it with those done.

        With `ends`, what keeps the contract is judged at the slow end of the step times too.

        Raises:
            BadInput: results cannot be written, or the workers cannot be reached.
        """
        hashes = {point: point.hash(self._digest) for point in points}
        missing = [
            point for point, named in hashes.items() if self._lacks(named, knee=knee, ends=ends)
        ]
        base = replace(self.base, depth=replace(FULL, knee=knee, ends=ends))
        reused = len(self._before.intersection(hashes.values()) - {hashes[one] for one in missing})
        done = len(hashes) - len(missing)
        progress(done, len(hashes))
        interrupted = False
        try:
            for row in self._workers.rows(base, self._digest, missing):
                self._keep(row)
                done += 1
                progress(done, len(hashes))
        except KeyboardInterrupt:
            interrupted = True
        return Results(self._asked(hashes.values()), len(hashes), reused, interrupted)

    def screen(self, points: Sequence[Point], depth: Depth, progress: Progress) -> Results:
        """The rows of these points on a part of the requests; they are not kept in the file.

        Raises:
            As `play`.
        """
        hashes = {point: point.hash(self._digest) for point in points}
        missing = [point for point, named in hashes.items() if named not in self._screened]
        done, interrupted = len(hashes) - len(missing), False
        progress(done, len(hashes))
        try:
            for row in self._workers.rows(replace(self.base, depth=depth), self._digest, missing):
                self._screened[row.columns["point"]] = row
                done += 1
                progress(done, len(hashes))
        except KeyboardInterrupt:
            interrupted = True
        rows = tuple(self._screened[named] for named in hashes.values() if named in self._screened)
        return Results(rows, len(hashes), 0, interrupted)

    def _lacks(self, named: str, *, knee: bool, ends: bool) -> bool:
        row = self._known.get(named)
        if row is None or (ends and row.at_expected_only):
            return True
        return knee and row.simulated and row.columns.get("knee") is None

    def _keep(self, row: Row) -> None:
        known = self._known.get(row.columns["point"])
        if known is not None and row.columns.get("knee") is None:  # it was searched before
            row = Row(row.point, {**row.columns, **_knee(known)})
        self._known[row.columns["point"]] = row
        if self._store is not None:
            self._store.add(row)

    def _asked(self, hashes: Iterable[str]) -> tuple[Row, ...]:
        return tuple(self._known[named] for named in hashes if named in self._known)


def _knee(row: Row) -> dict[str, Any]:
    return {name: row.columns.get(name) for name in _KNEE}
