"""Takes home what is finished, from a thread of its own: a failure is told and tried again, and stops nothing else."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Final, Self

from vramledger.errors import VramError
from vramledger.frozen import frozen
from vramledger.methods.trialplan.home.not_home import NotHome
from vramledger.methods.trialplan.home.place import Home
from vramledger.record.description import read_description

EVERY_S: Final = 15.0
LAST_TRIES: Final = 3
_GROWING: Final = 60.0  # seconds between two copies of what is still being recorded
_SCRATCH: Final = frozenset({"load"})  # what only client processes read
_SEGMENTS: Final = "segments"
Told = Callable[[str], None]


@frozen
class Version:
    """What of a file was copied: it is copied again when this changes."""

    size: int
    changed_ns: int


class Courier:
    """Copies a folder to a home while a block lasts, and once more at its end."""

    def __init__(self, folder: Path, home: Home, tell: Told, every_s: float = EVERY_S) -> None:
        self._folder, self._home, self._tell, self._every_s = folder, home, tell, every_s
        self._copied: dict[PurePosixPath, Version] = {}
        self._cleared: set[PurePosixPath] = set()
        self._refusal = ""
        self._ends, self._wake, self._going = threading.Event(), threading.Event(), threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True, name="courier")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._wake.set()
        self._thread.join()

    def nudge(self) -> None:
        """Something is finished."""
        self._wake.set()

    def missing(self) -> tuple[str, ...]:
        """The files that are not at home as they are here, after some last tries."""
        for _ in range(LAST_TRIES):
            left = self._round(finished_only=False)
            if not left:
                return ()
        return tuple(str(each) for each in left)

    @property
    def refusal(self) -> str:
        """Why the last copy failed; empty where it did not."""
        return self._refusal

    def _run(self) -> None:
        rounds, between = 0, max(round(_GROWING / self._every_s), 1)
        while not self._ends.is_set():
            self._wake.wait(self._every_s)
            self._wake.clear()
            rounds += 1
            self._round(finished_only=bool(rounds % between))

    def _round(self, *, finished_only: bool) -> list[PurePosixPath]:
        """Copy what has changed; what could not be copied. After a refusal nothing further is tried in a round."""
        with self._going:
            wanted = list(_changed(self._folder, self._copied, finished_only=finished_only))
            for number, (relative, version) in enumerate(wanted):
                try:
                    self._home.put(self._folder / relative, relative)
                except FileNotFoundError:
                    continue  # segments go when a run is closed
                except (NotHome, OSError) as error:
                    self._refused(str(error))
                    return [each for each, _ in wanted[number:]]
                self._copied[relative] = version
            self._clear()
            if wanted and self._refusal:
                self._refusal = ""
                self._tell(f"Copies reach {self._home.name} again.")
            return []

    def _clear(self) -> None:
        """Segments of closed runs lie in the tables now."""
        for run in runs_in(self._folder):
            segments = PurePosixPath(run.relative_to(self._folder)) / _SEGMENTS
            there = any(each.is_relative_to(segments) for each in self._copied)
            if there and not (self._folder / segments).exists() and segments not in self._cleared:
                try:
                    self._home.remove(segments)
                except NotHome as error:
                    self._refused(str(error))
                    return
                self._cleared.add(segments)

    def _refused(self, why: str) -> None:
        if why != self._refusal:
            self._refusal = why
            self._tell(f"Not copied home, and tried again: {why}. The trials go on.")


def runs_in(folder: Path) -> list[Path]:
    """The folders of runs, those of the steps of a ramp among them."""
    return sorted(each.parent for each in folder.rglob("run.json"))


def _changed(
    folder: Path, copied: dict[PurePosixPath, Version], *, finished_only: bool
) -> Iterator[tuple[PurePosixPath, Version]]:
    """Files whose copy is none or old; of open runs only those that no longer grow where so much is asked."""
    growing = {run for run in runs_in(folder) if not _closed(run)} if finished_only else set()
    for path in sorted(folder.rglob("*")):
        relative = PurePosixPath(path.relative_to(folder))
        hidden = any(part.startswith(".") for part in relative.parts)
        if hidden or _SCRATCH & set(relative.parts) or not path.is_file() or path.is_symlink():
            continue
        if any(path.is_relative_to(run) for run in growing) and path.name != "run.json":
            continue
        try:
            state = path.stat()
        except FileNotFoundError:
            continue
        version = Version(state.st_size, state.st_mtime_ns)
        if copied.get(relative) != version:
            yield relative, version


def _closed(run: Path) -> bool:
    try:
        return read_description(run).ended is not None
    except VramError:
        return False
