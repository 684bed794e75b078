"""Whether the runs of a bundle are whole, and the verdict follows from them."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vramledger.bundle.canonical import HASH, canonical_object
from vramledger.bundle.check import Check, fails, holds
from vramledger.bundle.contents import VERDICT, Placed
from vramledger.bundle.manifest import TRIAL
from vramledger.bundle.verdict import verdict_of
from vramledger.errors import VramError

if TYPE_CHECKING:
    from vramledger.record.run import Run


def runs_sound(folder: Path, manifest: Mapping[str, Any]) -> tuple[tuple[Placed, ...], list[Check]]:
    """The runs that can be read, and what is wrong with each that is not as the manifest says."""
    placed, found = [], []
    for entry in manifest["runs"]:
        try:
            run = _sound(folder / entry["folder"])
        except VramError as error:
            said = str(error).replace(f"{folder}/", "")
            found.append(fails("runs", said))
            continue
        placed.append(Placed.at(entry["folder"], run))
        found += _as_listed(run, entry, str(manifest["kind"]))
    found += _twice(placed)
    if not placed and not found:
        found.append(fails("runs", "It has no run."))
    count = len(placed)
    said = "The run is" if count == 1 else f"All {count} runs are"
    return tuple(placed), found or [holds("runs", f"{said} sound, row by row.")]


def _twice(placed: Sequence[Placed]) -> Iterator[Check]:
    """Runs that are one run under two names."""
    seen: dict[str, str] = {}
    for each in placed:
        other = seen.setdefault(str(each.run.description.sha256), each.folder)
        if other != each.folder:
            yield fails("runs", f"{each.folder} is the same run as {other}.")


def _sound(folder: Path) -> "Run":
    from vramledger.record.run import read_run
    from vramledger.record.soundness import check_sound

    run = read_run(folder)
    run.check_unchanged()
    check_sound(run)
    return run


def _as_listed(run: "Run", entry: Mapping[str, Any], kind: str) -> Iterator[Check]:
    about, name = run.description, entry["folder"]
    if about.sha256 != entry[HASH]:
        yield fails("runs", f"{name} is another run than the manifest lists.")
    if about.origin.value != entry["origin"]:
        yield fails("runs", f"{name} is {about.origin.value}, and the manifest says otherwise.")
    if kind == TRIAL and about.origin.value != "measured":
        yield fails("runs", f"{name} is {about.origin.value}, and is offered as a trial.")


def verdict_again(folder: Path, placed: Sequence[Placed]) -> tuple[dict[str, Any] | None, Check]:
    """The verdict made anew from the raw records, and whether it is the sealed one."""
    path = folder / VERDICT
    stated = canonical_object(path.read_bytes()) if path.is_file() else None
    if stated is None:
        return None, fails("verdict", f"{VERDICT} is gone or is none.")
    found = verdict_of(placed, folder)
    if found == stated:
        return found, holds(
            "verdict", f"Made again from the raw records, the verdict is {found['verdict']}."
        )
    return found, fails(
        "verdict", f"From the raw records comes another verdict: {_other(stated, found)}."
    )


def _other(stated: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """The first thing that differs."""
    if stated.get("verdict") != found["verdict"]:
        return f"{found['verdict']}, and {stated.get('verdict')} was sealed"
    if any(stated.get(key) != found[key] for key in ("accepted", "not_accepted")):
        return "its lines are judged otherwise"
    if stated.get("series") != found["series"]:
        return "its series come to something else"
    listed = stated.get("runs")
    for number, run in enumerate(found["runs"]):
        other = listed[number] if isinstance(listed, list) and number < len(listed) else None
        if other != run:
            key = next(
                (key for key in run if not isinstance(other, dict) or other.get(key) != run[key]),
                "",
            )
            return f"{key} of run {number + 1:03d} differs"
    return "it has other runs"
