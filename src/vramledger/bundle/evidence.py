"""Whether what is in a bundle fits together: runs, plan, load, challenge, documents and verdict."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vramledger.bundle.canonical import HASH, canonical_object
from vramledger.bundle.challenged import answers
from vramledger.bundle.check import Check, fails, holds, unchecked
from vramledger.bundle.contents import (
    CHALLENGE,
    PLAN,
    SOFTWARE,
    VERDICT,
    Placed,
    challenge_of,
    described,
)
from vramledger.bundle.loads import load_of
from vramledger.bundle.manifest import TRIAL
from vramledger.bundle.seen_before import cached
from vramledger.bundle.verdict import verdict_of
from vramledger.errors import VramError
from vramledger.record.durable import file_sha256

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
        placed.append(Placed(Path(entry["folder"]).name, run))
        found += _as_listed(run, entry, str(manifest["kind"]))
    if not placed and not found:
        found.append(fails("runs", "It has no run."))
    count = len(placed)
    said = "The run is" if count == 1 else f"All {count} runs are"
    return tuple(placed), found or [holds("runs", f"{said} sound, row by row.")]


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


def plan_is_theirs(folder: Path, placed: Sequence[Placed]) -> Check:
    """Whether the plan is the one that every run carries."""
    path = folder / PLAN
    stated = {p.run.description.plan.sha256: p for p in placed if p.run.description.plan}
    if not path.is_file():
        if stated:
            return fails("plan", f"{PLAN} is not there, and the runs were made for one.")
        return unchecked("plan", "The runs were made without a plan.")
    found = file_sha256(path)
    other = next((p.name for sha256, p in stated.items() if sha256 != found), None)
    if other is not None or not stated:
        return fails("plan", f"{PLAN} is not the plan that run {other or '001'} was made for.")
    return holds("plan", f"{PLAN} is the plan that the runs were made for.")


def loads_are_theirs(folder: Path, placed: Sequence[Placed]) -> Check:
    """Whether every run's workload is there."""
    wanted = {p.name: p.run.description.workload_sha256 for p in placed}
    for name, sha256 in wanted.items():
        if sha256 is None:
            return unchecked("load", f"Run {name} does not say which workload it was.")
        if load_of(folder, sha256) is None:
            return fails("load", f"The workload that run {name} was made with is not there.")
    return holds("load", "The workload of every run is there.")


def documents_are_theirs(folder: Path, placed: Sequence[Placed]) -> Check:
    """Whether configuration, environment and versions are those in the runs."""
    for name, content in described(placed).items():
        path = folder / name
        found = canonical_object(path.read_bytes()) if path.is_file() else None
        same = found is not None and (
            found.get("runs") == content["runs"] if name == SOFTWARE else found == content
        )
        if not same:
            return fails("documents", f"{name} does not say what the runs say.")
    return holds("documents", "Configuration, environment and versions are those of the runs.")


def challenge_met(
    folder: Path, placed: Sequence[Placed], wanted: Mapping[str, Any] | None = None
) -> Check:
    """Whether every run sent exactly what the challenge drew; `wanted` is the buyer's own copy of it."""
    challenge, why = _stated(folder, placed)
    if challenge is None:
        if why is not None:
            return fails("challenge", why)
        if wanted is not None:
            return fails("challenge", "The runs answer no challenge, and should answer yours.")
        return unchecked("challenge", "No challenge was drawn for these runs.")
    if wanted is not None and challenge != wanted:
        return fails("challenge", f"The runs answer another challenge than yours, {wanted[HASH]}.")
    for each in placed:
        why = answers(each.run, challenge, folder)
        if why is not None:
            return fails("challenge", f"Run {each.name} does not answer the challenge: {why}.")
    return _met(folder, placed, challenge, known=wanted is not None)


def _stated(folder: Path, placed: Sequence[Placed]) -> tuple[Mapping[str, Any] | None, str | None]:
    """The challenge in a bundle; None where there is none, with a sentence where there should be."""
    path = folder / CHALLENGE
    if path.is_file():
        challenge = canonical_object(path.read_bytes())
        return challenge, f"{CHALLENGE} is no challenge." if challenge is None else None
    carried = next((each.name for each in placed if challenge_of(each.run)), None)
    if carried is None:
        return None, None
    return None, f"Run {carried} answers a challenge, and {CHALLENGE} is gone."


def _met(
    folder: Path, placed: Sequence[Placed], challenge: Mapping[str, Any], *, known: bool
) -> Check:
    """What was sent is what was drawn; what the server's cache says of earlier tries."""
    load = folder / str(load_of(folder, str(challenge["workload_sha256"])))
    told = [(each.name, found) for each in placed if (found := cached(each.run, load))]
    for name, found in told:
        if found.shows_an_earlier_try:
            return fails(
                "challenge",
                f"The server had {found.cached:,} of {found.prompts:,} tokens of the prompts of run {name} in its cache, and the "
                f"load repeats {found.repeated:,} at most: they were sent to it before.",
            )
    whose = "yours" if known else "whose it is, the buyer's copy tells (--challenge)"
    tries = (
        "the server's cache shows no earlier try"
        if len(told) == len(placed)
        else "how often it was tried before, nothing tells"
    )
    said = f"Every run sent exactly what nonce {challenge['nonce']} drew, texts included; {tries}"
    return holds("challenge", f"{said}; the challenge is {whose}.")


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
