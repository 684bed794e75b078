"""A bundle that was verified, as a report shows it."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from vramledger.bundle.check import Standing
from vramledger.bundle.contents import SERIES
from vramledger.bundle.manifest import EXERCISE
from vramledger.report.run_report.model import Seal, SealCheck

if TYPE_CHECKING:
    from vramledger.bundle.verifying import Verified

_SAID: Final = {Standing.HOLDS: "ok", Standing.FAILS: "FAILS", Standing.OPEN: "not checked"}
_PEOPLE: Final = {"ran_by": "ran by", "watched_by": "watched by", "sealed_by": "sealed by"}
_PROVES: Final = (
    "A seal proves that nothing changed since it was made, not that the records are genuine."
)
_EXERCISE: Final = "An exercise: its runs are no trial of a server, and prove nothing of one."


def seal_of(found: "Verified") -> Seal:
    """What was looked at, and who vouches for it."""
    manifest = found.manifest or {}
    people = manifest.get("people") or {}
    exercise = f"{_EXERCISE} " if manifest.get("kind") == EXERCISE else ""
    return Seal(
        sha256=manifest.get("sha256"),
        unchanged=found.unchanged,
        checks=tuple(
            SealCheck(each.name, _SAID[each.standing], each.said) for each in found.checks
        ),
        people=tuple((said, str(people[key])) for key, said in _PEOPLE.items() if people.get(key)),
        signed_by=None if found.signed_by is None else found.signed_by.fingerprint,
        said=exercise + _PROVES,
    )


def sealed_runs(folder: Path, found: "Verified") -> list[Path]:
    """The folders of the runs in a bundle that are of no series; none where its manifest or a run cannot be read."""
    return [folder / name for name in _placed(found) if not name.startswith(f"{SERIES}/")]


def sealed_series(folder: Path, found: "Verified") -> list[Path]:
    """The folders of the series in a bundle; likewise."""
    of = [name.split("/")[1] for name in _placed(found) if name.startswith(f"{SERIES}/")]
    return [folder / SERIES / name for name in sorted(set(of))]


def _placed(found: "Verified") -> list[str]:
    """Where every run lies."""
    if found.manifest is None or found.verdict is None:
        return []
    return [str(each["folder"]) for each in found.manifest["runs"]]
