"""The loads of the runs in a bundle: each lies once, where plan or challenge looks for it, else under its hash."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from vramledger.bundle.archive import unfit_name
from vramledger.bundle.contents import CHALLENGE, PLAN, RESERVED, Placed, challenge_of
from vramledger.errors import BadInput, VramError
from vramledger.plan.promises import named_evidence, named_loads
from vramledger.record.durable import file_sha256
from vramledger.workload.challenge import WORKLOAD

WORKLOADS: Final = "workloads"
_CHALLENGED: Final = str(Path(CHALLENGE).with_name(WORKLOAD))


def place_loads(placed: Sequence[Placed], given: Sequence[Path], folder: Path) -> None:
    """Copy the workload of each run, what the plan names, and the one that a challenge was drawn from, where it is given.

    Raises:
        BadInput: that of a run is not among those given, nor where the run says it was.
    """
    known = {file_sha256(path): path for path in given if path.is_file()}
    for each in placed:
        sha256 = each.run.description.workload_sha256
        if sha256 is not None and sha256 not in known:
            known[sha256] = _where_it_was(each, sha256)
    for challenge in (found for each in placed if (found := challenge_of(each.run))):
        drawn = known.get(str(challenge.get("workload_sha256")))
        if drawn is not None:
            _copy(drawn, folder / _CHALLENGED)
    at_hand = {path.name: path for path in known.values()}
    for name in _named(folder):
        if Path(name).name in at_hand:
            _copy(at_hand[Path(name).name], folder / name)
    wanted = {each.run.description.workload_sha256 for each in placed} | {
        str(found.get("source_sha256")) for each in placed if (found := challenge_of(each.run))
    }
    for sha256 in wanted & known.keys():
        if sha256 is not None and load_of(folder, sha256) is None:
            _copy(known[sha256], folder / workload_name(sha256))


def workload_name(sha256: str) -> str:
    """Where a workload lies in a bundle that nothing names."""
    return f"{WORKLOADS}/{sha256[:16]}.parquet"


def load_of(folder: Path, sha256: str) -> str | None:
    """The name in the bundle of the workload with this hash; None where it has none."""
    names = (workload_name(sha256), _CHALLENGED, *_named(folder))
    return next((name for name in names if _is(folder / name, sha256)), None)


def absent_loads(folder: Path) -> tuple[str, ...]:
    """What the plan names and the bundle does not hold, so that who repeats a run has to put it there."""
    return tuple(name for name in _all_named(folder) if not _within(folder, name))


def _is(path: Path, sha256: str) -> bool:
    return path.is_file() and not path.is_symlink() and file_sha256(path) == sha256


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        shutil.copyfile(source, target)


def outside(folder: Path) -> tuple[str, ...]:
    """What the plan names for which nothing in the bundle can stand, or no load does; evidence may be missing."""
    found = tuple(name for name in named_in(folder, named_evidence) if not fits(name))
    return (*absent_loads(folder), *found)


def _named(folder: Path) -> Iterator[str]:
    """The loads in the plan that may lie in a bundle."""
    return (name for name in _all_named(folder) if fits(name))


def _all_named(folder: Path) -> tuple[str, ...]:
    return named_in(folder, named_loads)


def named_in(folder: Path, names: Callable[[str], tuple[str, ...]]) -> tuple[str, ...]:
    """What the plan of a bundle names; nothing where it has none that can be read."""
    path = folder / PLAN
    try:
        return names(path.read_text(encoding="utf-8")) if path.is_file() else ()
    except (VramError, UnicodeDecodeError):
        return ()


def fits(name: str) -> bool:
    """Whether a name stays in the bundle and is nothing else's there."""
    first = name.split("/", maxsplit=1)[0].casefold()
    return unfit_name(name) is None and first not in RESERVED and first != WORKLOADS


def _within(folder: Path, name: str) -> bool:
    return fits(name) and (folder / name).is_file()


def _where_it_was(placed: Placed, sha256: str) -> Path:
    for path in _told(placed):
        if _is(path, sha256):
            return path
    raise BadInput(
        f"The workload of run {placed.name} (SHA-256 {sha256[:16]}...) is not at hand, and without its load nobody can repeat "
        "the run; name its file with --workload."
    )


def _told(placed: Placed) -> Iterator[Path]:
    """Where a run says that its workload is."""
    trial = (placed.run.description.model_extra or {}).get("trial")
    for part in ("given", "load"):
        found: Any = trial.get(part) if isinstance(trial, dict) else None
        stated = found.get("workload") if isinstance(found, dict) else None
        if isinstance(stated, str):
            yield Path(stated)
