"""A bundle that was verified, as a report shows it."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from vramledger.bundle.check import Standing
from vramledger.bundle.manifest import EXERCISE
from vramledger.frozen import frozen
from vramledger.report.run_report.model import Seal, SealCheck
from vramledger.report.run_report.ruling import ByPlan

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


@frozen
class SealedParts:
    """What is in a bundle: its runs, its series, and what the runs come to by its plan."""

    runs: tuple[Path, ...] = ()
    series: tuple[Path, ...] = ()
    by_plan: ByPlan | None = None


def sealed_parts(folder: Path, found: "Verified") -> SealedParts:
    """The parts of a bundle; nothing where its manifest or a run cannot be read."""
    from vramledger.bundle.contents import Placed
    from vramledger.bundle.judged import by_plan
    from vramledger.record.run import read_run

    if found.manifest is None or found.verdict is None:
        return SealedParts()
    names = [str(each["folder"]) for each in found.manifest["runs"]]
    placed = [Placed.at(name, read_run(folder / name)) for name in names]
    alone = [each for each in placed if not each.is_of_series]
    series = found.verdict["series"]
    decided = {name for each in series for name in each.get("scenarios", ())}
    verdict, why = by_plan(alone, folder, decided)
    return SealedParts(
        tuple(folder / each.folder for each in alone),
        tuple(folder / each["folder"] for each in series),
        ByPlan(verdict, why or ""),
    )
