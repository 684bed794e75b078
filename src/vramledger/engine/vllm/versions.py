"""From a version string to its rules: the door to all that depends on vLLM's version.

A release's rules are the first ones of `rule_history` overlaid with every change up to that release.
Where both engine generations exist, each has its own rules.
"""

import re
from dataclasses import replace
from functools import cache
from typing import Any, Final

from vramledger.engine.vllm.rule_history import CHANGES, FIRST
from vramledger.engine.vllm.rules import Release, Rules
from vramledger.errors import BadInput, UnknownName
from vramledger.frozen import frozen

OLDEST_MINOR: Final = 4
NEWEST_MINOR: Final = 33
FAMILIES: Final = tuple(f"0.{minor}" for minor in range(OLDEST_MINOR, NEWEST_MINOR + 1))
_ANY_PATCH: Final = 999  # "0.10" means the last release of the family
_V1_EXISTS: Final[Release] = (0, 6, 5)
_V1_DEFAULT: Final[Release] = (0, 8, 0)
_V0_GONE: Final[Release] = (0, 11, 0)
_MOVING: Final = frozenset({"latest", "nightly", "main", "master", "dev", "head", "stable"})
_VERSION: Final = re.compile(
    r"v?(?P<major>\d{1,9})\.(?P<minor>\d{1,9})(?:\.(?P<patch>\d{1,9}))?"
    r"(?P<between>(?:[.-]?(?:rc|a|b|alpha|beta|dev|pre)\d*)*)"
    r"(?:[.-]?(?:post|dev)\d+)*(?:\.\d+)?(?:[+_-][\w.+-]*)?\Z",
    re.IGNORECASE,
)


@frozen
class VersionMatch:
    """The rules a version string stands for; `note` is one sentence where they are not its own."""

    version: str  # as given but for a leading v, or the newest known release
    release: Release
    rules: Rules
    note: str = ""


@cache
def rules_at(release: Release, *, v1: bool) -> Rules:
    """The rules of a release for one engine generation; `release` must be a known family."""
    values: dict[str, Any] = {"family": f"{release[0]}.{release[1]}"}
    for change in sorted(CHANGES, key=lambda change: change.since):
        if change.since <= release and change.v1 in (None, v1):
            values.update(change.values)
    return replace(FIRST, **values)


def runs_v1_by_default(release: Release) -> bool:
    """Whether the release starts the V1 engine when nothing speaks against it."""
    return release >= _V1_DEFAULT


def has_both_generations(release: Release) -> bool:
    """Whether the release can run either engine generation."""
    return _V1_EXISTS <= release < _V0_GONE


def rules_for(version: str | None) -> VersionMatch:
    """The rules of a version string: ``0.19.1``, ``v0.11.0``, ``0.8.5.post1``, ``nightly``.

    A missing or moving version means the newest known one, and a newer version is given the newest
    known rules; both are said in the note.

    Raises:
        UnknownName: the text is not a vLLM version or the family is too old to be known.
    """
    if version is None:
        return _newest("", "No engine version is given; the newest known rules are used")
    text = version.strip()
    word = text.casefold().split("-")[0].split("_")[0]
    if word in _MOVING:
        return _newest("", f"{text!r} moves with time; the newest known rules are used")
    match = _VERSION.match(text)
    if match is None:
        raise UnknownName(
            "vLLM version", text, FAMILIES, hint="Give a release such as 0.19.0 or v0.11.0."
        )
    major, minor = int(match["major"]), int(match["minor"])
    patch = int(match["patch"]) if match["patch"] is not None else _ANY_PATCH
    if (major, minor) > (0, NEWEST_MINOR):
        return _newest(text, f"vLLM {text} is newer than any known version")
    if minor < OLDEST_MINOR:
        raise BadInput(
            f"vLLM {text} is older than any known version; known are {FAMILIES[0]} to "
            f"{FAMILIES[-1]}."
        )
    release = (major, minor, patch)
    note = ""
    if match["between"]:
        note = (
            f"vLLM {text} is a build between releases; the rules of {major}.{minor} are used, and "
            "some of the next release may already hold."
        )
    rules = rules_at(release, v1=runs_v1_by_default(release))
    return VersionMatch(text.lstrip("vV"), release, rules, note)


def _newest(version: str, reason: str) -> VersionMatch:
    release = (0, NEWEST_MINOR, _ANY_PATCH)
    note = f"{reason} ({FAMILIES[-1]})."
    return VersionMatch(
        version.lstrip("vV") or FAMILIES[-1], release, rules_at(release, v1=True), note
    )
