"""Whether what is in a bundle fits together: runs, plan, contract, load, documents and challenge.

Looked at when it is sealed, and again when it is verified.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vramledger.bundle.canonical import HASH, canonical_object
from vramledger.bundle.challenged import answers
from vramledger.bundle.check import Check, fails, holds, unchecked
from vramledger.bundle.contents import CHALLENGE, PLAN, SOFTWARE, Placed, challenge_of, described
from vramledger.bundle.loads import load_of
from vramledger.bundle.promised import contracts_are_the_plans
from vramledger.bundle.seen_before import cached
from vramledger.record.durable import file_sha256


def fitting(
    folder: Path, placed: Sequence[Placed], challenge: Mapping[str, Any] | None = None
) -> Iterator[Check]:
    """One check each; `challenge` is the buyer's own copy of what the runs should answer."""
    yield plan_is_theirs(folder, placed)
    yield contracts_are_the_plans(folder, placed)
    yield loads_are_theirs(folder, placed)
    yield documents_are_theirs(folder, placed)
    yield challenge_met(folder, placed, challenge)


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
