"""Files of another tool become runs: read, written, read back as every run is."""

from collections.abc import Sequence
from pathlib import Path

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.record.computed_run import refuse_folder
from vramledger.record.durable import file_sha256
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
    """The runs, in folders that were not there.

    Raises:
        BadInput: a file cannot be used, its records contradict each other, or a folder is taken.
    """
    refuse_folder(out)
    found = read_results(paths)
    files = {path.name: file_sha256(path) for path in paths if path.is_file()}
    folders = [out] if len(found) == 1 else [out / f"{number + 1:02}" for number in range(len(found))]  # fmt: skip
    for told in found:
        _check_order(told)
    for told, folder in zip(found, folders, strict=True):
        write(told, files, folder, held)
    return tuple(_read(folder, told) for folder, told in zip(folders, found, strict=True))


def _read(folder: Path, told: Told) -> Imported:
    run = read_run(folder)
    check_sound(run)
    return Imported(folder, told, summarise(run))


def _check_order(told: Told) -> None:
    """Refuse moments that contradict each other before anything is written."""
    for each in told.records:
        for moments in (
            (each.due_s, each.dispatched_s, each.done_s),
            (each.due_s, each.headers_s, each.first_content_s, each.last_content_s, each.done_s),
            (each.dispatched_s, each.first_content_s),
        ):
            happened = [moment for moment in moments if moment is not None]
            if happened != sorted(happened):
                raise BadInput(
                    f"Request {each.request_id} of {told.tool} has moments out of order (its clock was set, or the file was changed); "
                    "use an unchanged copy or run the benchmark again."
                )
