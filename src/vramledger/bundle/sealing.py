"""Sealing: runs, and what they rest on, become a bundle."""

import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vramledger.bundle.archive import write_archive
from vramledger.bundle.check import Check, Standing
from vramledger.bundle.contents import (
    CHALLENGE,
    VERDICT,
    Placed,
    challenge_of,
    described,
    place_plan,
    place_runs,
    write_json,
)
from vramledger.bundle.fitting import fitting
from vramledger.bundle.keys import PublicKey, public_of
from vramledger.bundle.loads import place_loads
from vramledger.bundle.manifest import (
    EXERCISE,
    MOMENT,
    TRIAL,
    People,
    file_entries,
    files_in,
    sign,
    write_manifest,
)
from vramledger.bundle.quality_files import absent_evidence, place_evidence
from vramledger.bundle.repeating import Repeat, repeating
from vramledger.bundle.series import SeriesRuns, kind_at, place_series, series_folders
from vramledger.bundle.verdict import verdict_of
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.record.closing import writable
from vramledger.record.computed_run import refuse_folder
from vramledger.record.durable import publish, sync_file
from vramledger.record.run import read_run
from vramledger.record.soundness import check_sound
from vramledger.written_file import refuse_place

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from vramledger.record.run import Run

ARCHIVE: Final = ".zip"


@frozen
class SealAsked:
    """Runs, and folders of repetitions, a ramp or a soak, to be sealed, their workloads where they are not where they were, evidence of quality, and who vouches.

    `exercise` says that this is no evidence of a server: only then may simulated, rehearsed and imported runs be in it.
    """

    runs: tuple[Path, ...]
    out: Path
    workloads: tuple[Path, ...] = ()
    people: People = People()
    exercise: bool = False
    key: "Ed25519PrivateKey | None" = None
    evidence: tuple[Path, ...] = ()


@frozen
class Sealed:
    """A bundle that was written: where, its hash, its kind, the key that signed it, what it comes to, how to do it again.

    `unfit` is what is in it and does not fit together: it is sealed all the same, and verifying says it again. `absent` names
    evidence of quality that the plan names, and that was not given.
    """

    path: Path
    sha256: str
    kind: str
    key: PublicKey | None
    verdict: dict[str, Any]
    files: int
    repeat: tuple[Repeat, ...]
    unfit: tuple[Check, ...] = ()
    absent: tuple[str, ...] = ()


def seal(asked: SealAsked, now: datetime | None = None) -> Sealed:
    """Write a folder, or one archive where the name ends in .zip; it appears whole or not at all.

    Raises:
        BadInput: a run is unsound, was changed, or is none; its load is not at hand; or the place cannot be written.
    """
    packed = asked.out.suffix == ARCHIVE
    if packed:
        refuse_place(asked.out)
    else:
        refuse_folder(asked.out)
    series = [_series(path, kind) for path in asked.runs if (kind := kind_at(path)) is not None]
    runs = [_sound(path) for path in asked.runs if kind_at(path) is None]
    every = [*runs, *(run for each in series for _, run in each.runs)]
    _refuse_twice(every)
    if not asked.exercise:
        refuse_others(every)
    with writable(asked.out):
        above = asked.out.absolute().parent
        above.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{asked.out.name}-", dir=above))
        try:
            folder = work / "bundle"
            folder.mkdir()
            placed = place_runs(runs, folder)
            placed += [run for each in place_series(series, folder) for run in each.runs]
            return _filled(asked, placed, folder, now or datetime.now(UTC), packed=packed)
        finally:
            shutil.rmtree(work, ignore_errors=True)


def refuse_others(runs: "Sequence[Run]") -> None:
    """Refuse a run that this program did not measure on a real server.

    Raises:
        BadInput: there is one; it is named with where it comes from.
    """
    for run in runs:
        origin = run.description.origin.value
        if origin != "measured":
            raise BadInput(
                f"{run.path} is {origin}, and so no trial of a server: it cannot be sealed as one; measure with vram trial "
                "run, or seal it with --exercise, which says on every page what it is."
            )


def _refuse_twice(runs: "Sequence[Run]") -> None:
    seen: dict[str | None, Path] = {}
    for run in runs:
        other = seen.get(run.description.sha256)
        if other is not None:
            raise BadInput(f"{run.path} is the same run as {other}; name each once.")
        seen[run.description.sha256] = run.path


def _sound(path: Path) -> "Run":
    run = read_run(path)
    run.check_unchanged()
    check_sound(run)
    return run


def _series(path: Path, kind: str) -> SeriesRuns:
    """A series with all its runs.

    Raises:
        BadInput: it has none, or one of them is not closed, or unsound.
    """
    found = tuple((name, _sound(path / name)) for name in series_folders(path))
    if not found:
        raise BadInput(f"{path} is a series without a run; make one, or leave it out.")
    return SeriesRuns(path, kind, found)


def _filled(
    asked: SealAsked, placed: Sequence[Placed], folder: Path, now: datetime, *, packed: bool
) -> Sealed:
    place_plan(placed, folder)
    _place_challenge(placed, folder)
    place_loads(placed, asked.workloads, folder)
    place_evidence(asked.evidence, folder)
    for name, content in described(placed).items():
        write_json(folder, name, content)
    verdict = verdict_of(placed, folder)
    write_json(folder, VERDICT, verdict)
    kind = EXERCISE if asked.exercise else TRIAL
    sha256 = write_manifest(folder, _manifest(asked, placed, folder, kind, now))
    key = None if asked.key is None else sign(folder, asked.key)
    files = files_in(folder)
    sealed = Sealed(
        asked.out,
        sha256,
        kind,
        key,
        verdict,
        files=len(files),
        repeat=tuple(repeating(each, folder) for each in placed),
        unfit=tuple(each for each in fitting(folder, placed) if each.standing is Standing.FAILS),
        absent=absent_evidence(folder),
    )
    _put(folder, files, asked.out, packed=packed)
    return sealed


def _place_challenge(placed: Sequence[Placed], folder: Path) -> None:
    challenges = {str(found): found for each in placed if (found := challenge_of(each.run))}
    if len(challenges) > 1:
        raise BadInput(
            "The runs answer different challenges, and a bundle is the answer to one; seal them apart."
        )
    for found in challenges.values():
        write_json(folder, CHALLENGE, found)


def _manifest(
    asked: SealAsked, placed: Sequence[Placed], folder: Path, kind: str, now: datetime
) -> dict[str, Any]:
    return {
        "kind": kind,
        "sealed_at": now.astimezone(UTC).strftime(MOMENT),
        "people": asdict(asked.people),
        "key": None if asked.key is None else public_of(asked.key).line,
        "runs": [
            {
                "folder": each.folder,
                "origin": each.run.description.origin.value,
                "name": each.run.description.name,
                "sha256": each.run.description.sha256,
            }
            for each in placed
        ],
        "files": file_entries(folder),
    }


def _put(folder: Path, files: Sequence[str], out: Path, *, packed: bool) -> None:
    for name in files:
        sync_file(folder / name)
    if not packed:
        with suppress(FileNotFoundError):
            out.rmdir()  # an empty one may be there
        publish(folder, out)
        return
    waiting = folder.with_name("archive")
    with waiting.open("xb") as stream:
        write_archive(folder, files, stream)
        stream.flush()
        os.fsync(stream.fileno())
    publish(waiting, out)
