"""Files of another tool become runs: read, written, read back as every run is; all of them or none."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from secrets import token_hex

from vramledger.frozen import frozen
from vramledger.record.closing import writable
from vramledger.record.computed_run import refuse_folder
from vramledger.record.run import read_run
from vramledger.record.soundness import check_sound
from vramledger.trial.conduct.summary import Summary, summarise
from vramledger.trial.imported.held_against import HeldAgainst
from vramledger.trial.imported.registry import read_results
from vramledger.trial.imported.told import Told
from vramledger.trial.imported.written import write


@frozen
class Imported:
    """One run, with what its file told and what is found in it now."""

    folder: Path
    told: Told
    summary: Summary


def import_results(
    paths: Sequence[Path], out: Path, held: HeldAgainst | None = None
) -> tuple[Imported, ...]:
    """The runs, in folders that were not there: all that the files hold, or an error and none.

    Raises:
        BadInput: a file cannot be used, its records contradict each other, or a folder is taken.
    """
    import pyarrow as pa

    refuse_folder(out)
    results = read_results(paths)
    several = len(results.benchmarks) > 1
    with _beside(out) as work:
        if several:
            work.mkdir()
        found = []
        for number, each in enumerate(results.benchmarks, 1):
            name = f"{number:02}" if several else ""
            told = write(each, results.files, work / name, held)
            pa.default_memory_pool().release_unused()
            run = read_run(work / name)
            check_sound(run)
            pa.default_memory_pool().release_unused()
            found.append(Imported(out / name, told, summarise(run)))
        with writable(out):
            work.rename(out)
    return tuple(replace(each, summary=replace(each.summary, run=read_run(each.folder))) for each in found)  # fmt: skip


@contextmanager
def _beside(out: Path) -> Iterator[Path]:
    """A place beside a folder, which is gone afterwards unless it was moved there; so are folders made above it."""
    made = [each for each in out.absolute().parents if not each.exists()]
    work = out.with_name(f".{out.name}-{token_hex(4)}")
    try:
        with writable(out):
            out.parent.mkdir(parents=True, exist_ok=True)
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        if not out.exists():
            for each in made:
                _leave(each)


def _leave(folder: Path) -> None:
    """Remove it where nothing was put into it."""
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
