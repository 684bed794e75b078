"""A bundle that was sealed or checked, for a terminal."""

from collections.abc import Iterator
from typing import Final

from vramledger.bundle.check import Standing
from vramledger.bundle.manifest import EXERCISE
from vramledger.bundle.repeating import Repeat
from vramledger.bundle.sealing import Sealed
from vramledger.bundle.verifying import Verified
from vramledger.printable import flat

_SAID: Final = {Standing.HOLDS: "ok", Standing.FAILS: "FAILS", Standing.OPEN: "not checked"}
_EXERCISE: Final = "An exercise: its runs are no trial of a server, and prove nothing of one."
_PEOPLE: Final = {"ran_by": "ran", "watched_by": "watched", "sealed_by": "sealed"}


def sealed_text(found: Sealed) -> str:
    """Where it is, what it is known by, what to do with it."""
    lines = [f"{found.path}: {found.files} files, verdict {found.verdict['verdict']}"]
    if found.kind == EXERCISE:
        lines.append(_EXERCISE)
    lines += [f"FAILS       {each.said}" for each in found.unfit]
    lines += [
        f"open        plan.yaml names {name}; give it with --quality" for name in found.absent
    ]
    lines.append(f"hash        {found.sha256}")
    if found.key is None:
        lines.append("signed by   nobody; --key signs it")
        check = f"vram verify {found.path} --hash {found.sha256}"
    else:
        lines.append(f"signed by   {found.key.fingerprint}")
        check = f"vram verify {found.path} --key '{found.key.line}'"
    lines += [f"check with  {check}", *_repeat(found.repeat)]
    return "\n".join(map(flat, lines))


def verified_text(found: Verified) -> str:
    """The whole first, then every check, and what that does not prove."""
    return "\n".join(map(flat, _verified(found)))


def _verified(found: Verified) -> Iterator[str]:
    by = found.signed_by.fingerprint if found.signed_by is not None else "nobody who signed"
    if found.unchanged:
        yield f"Unchanged since sealed by {by}."
    else:
        count = sum(each.standing is Standing.FAILS for each in found.checks)
        yield f"NOT as it was sealed: {count} {'check fails' if count == 1 else 'checks fail'}."
    if found.manifest is not None:
        if found.manifest["kind"] == EXERCISE:
            yield _EXERCISE
        people = found.manifest["people"]
        named = [f"{said} by {people[key]}" for key, said in _PEOPLE.items() if people[key]]
        yield from _repeat(found.repeat)
        yield f"Sealed at {found.manifest['sealed_at']}; {', '.join(named) or 'nobody is named'}."
    yield ""
    width = max(len(each.name) for each in found.checks)
    for each in found.checks:
        yield f"{each.name:<{width}}  {_SAID[each.standing]:<11}  {each.said}"
    yield ""
    yield "This proves that nothing changed since it was sealed, not that the records are genuine."


def _repeat(found: tuple[Repeat, ...]) -> Iterator[str]:
    """The command that repeats each run, and what it lacks."""
    for each in found:
        yield f"repeat with {each.command}"
        yield from (f"            {need}" for need in each.needs)
