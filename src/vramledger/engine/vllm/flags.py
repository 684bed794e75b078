"""The command-line flags of each vLLM release: names, short forms, kinds and choices.

``data/flags.json`` was read out of vLLM's own parsers of the releases it lists. A release in
between accepts what either neighbour accepts.
"""

import json
import re
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Final

from vramledger.engine.vllm.rules import Release
from vramledger.errors import BadInput, UnknownName
from vramledger.frozen import frozen

_FLAGS: Final = Path(__file__).parent / "data" / "flags.json"
_PAIRS: Final = (("enable-", "disable-"), ("disable-", "enable-"))
_NUMBER: Final = re.compile(r"\d+")


class Kind(StrEnum):
    """What a flag's value is."""

    SWITCH = "switch"  # present or absent
    BOOLEAN = "boolean"  # --x and --no-x
    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    COUNT = "count"  # 32768, 32k, 32K
    JSON = "json"


class Arity(StrEnum):
    """How many words follow the flag."""

    NONE = "0"
    ONE = "1"
    OPTIONAL = "?"
    MANY = "+"


@frozen
class FlagSpec:
    """One flag as a release knows it; `name` is the long form without its dashes."""

    name: str
    kind: Kind
    arity: Arity
    aliases: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()


@frozen
class FlagMatch:
    """The flag an option string means. `refused` says why this release does not accept it."""

    spec: FlagSpec
    negated: bool = False
    refused: str = ""


class FlagTable:
    """Every flag of one release, found by the spellings argparse accepts."""

    def __init__(self, release: Release) -> None:
        data = _data()
        self.release = release
        self.specs = data.specs_of(release)
        self._paired = release >= data.paired_since
        self._options: dict[str, FlagMatch] = {}
        for spec in self.specs.values():
            self._add(spec)

    def _add(self, spec: FlagSpec) -> None:
        self._options[f"--{spec.name}"] = FlagMatch(spec)
        for alias in spec.aliases:
            self._options[alias] = FlagMatch(spec)
        if spec.kind is Kind.BOOLEAN and spec.arity is Arity.NONE:
            self._options.setdefault(f"--no-{spec.name}", FlagMatch(spec, negated=True))
            for prefix, inverse in _PAIRS:
                if self._paired and spec.name.startswith(prefix):
                    option = f"--{inverse}{spec.name.removeprefix(prefix)}"
                    self._options.setdefault(option, FlagMatch(spec, negated=True))

    def find(self, option: str, where: str = "") -> FlagMatch:
        """The flag behind an option as written: ``-tp``, ``--max_model_len``, ``--kv-cache-memory``.

        A flag that only other releases have is returned with `refused` set.

        Raises:
            UnknownName: no release has such a flag.
            BadInput: an abbreviation that could mean several flags.
        """
        normal = _normalise(option)
        exact = self._options.get(normal)
        if exact is not None:
            return exact
        if normal.startswith("--"):
            matches = {name: m for name, m in self._options.items() if name.startswith(normal)}
            meant = {(m.spec.name, m.negated) for m in matches.values()}
            if len(meant) == 1:
                return next(iter(matches.values()))
            elsewhere = _data().elsewhere(normal, self.release)
            if elsewhere is not None:
                return elsewhere
            if meant:
                raise BadInput(
                    f"{option} in {where or 'the launch command'} could mean "
                    f"{_some(sorted(matches))}; write the whole name."
                )
        family = f"{self.release[0]}.{self.release[1]}"
        raise UnknownName(f"vLLM {family} flag", option, self._options, where)

    def knows(self, option: str) -> bool:
        """Whether the release has the option, in full or as a short form."""
        return _normalise(option) in self._options


@cache
def flag_table(release: Release) -> FlagTable:
    """The flags of a release."""
    return FlagTable(release)


def choices(name: str, release: Release) -> tuple[str, ...]:
    """The values a release's parser allows for a flag; empty where it does not say."""
    spec = flag_table(release).specs.get(name)
    return spec.choices if spec else ()


@frozen
class _Span:
    """A flag's form over a run of releases, by position in the list of releases."""

    spec: FlagSpec
    first: int
    last: int


@frozen
class _Data:
    releases: tuple[Release, ...]
    names: tuple[str, ...]
    paired_since: Release
    spans: tuple[_Span, ...]

    def specs_of(self, release: Release) -> dict[str, FlagSpec]:
        """Flags of a release; of its two neighbours where it was not read itself."""
        specs: dict[str, FlagSpec] = {}
        for index in self._positions(release):
            specs |= {s.spec.name: s.spec for s in self.spans if s.first <= index <= s.last}
        return specs

    def _positions(self, release: Release) -> tuple[int, ...]:
        """The positions to draw on, the one that decides last."""
        if release in self.releases:
            return (self.releases.index(release),)
        below = max((i for i, r in enumerate(self.releases) if r < release), default=0)
        above = min(below + 1, len(self.releases) - 1)
        same_family = self.releases[below][:2] == release[:2]
        return (above, below) if same_family else (below, above)

    def elsewhere(self, option: str, release: Release) -> FlagMatch | None:
        """The flag as another release has it, the nearest first, with the reason it is refused."""
        name = option.removeprefix("--")
        bare = name.removeprefix("no-")
        found = [s for s in self.spans if s.spec.name in (name, bare)]
        if not found:
            return None
        here = sum(r <= release for r in self.releases) - 1
        span = min(found, key=lambda s: min(abs(s.first - here), abs(s.last - here)))
        family = f"{release[0]}.{release[1]}"
        earlier = span.last <= here
        when = (
            f"{self.names[span.last]} was the last known release to have it"
            if earlier
            else f"{self.names[span.first]} is the first known release to have it"
        )
        negated = span.spec.name != name
        return FlagMatch(span.spec, negated, f"vLLM {family} has no {option}; {when}")


@cache
def _data() -> _Data:
    raw: dict[str, Any] = json.loads(_FLAGS.read_text(encoding="utf-8"))
    spans = tuple(
        _Span(
            FlagSpec(row[0], Kind(row[1]), Arity(row[2]), tuple(row[3]), _choices_of(row)),
            row[4],
            row[5],
        )
        for row in raw["flags"]
    )
    names = tuple(raw["releases"])
    return _Data(
        tuple(_release(name) for name in names), names, _release(raw["paired_since"]), spans
    )


def _choices_of(row: list[Any]) -> tuple[str, ...]:
    return tuple(row[6]) if len(row) > 6 else ()


def _release(name: str) -> Release:
    major, minor, patch = (int(part) for part in _NUMBER.findall(name)[:3])
    return major, minor, patch


def _normalise(option: str) -> str:
    return option.replace("_", "-") if option.startswith("--") else option


def _some(names: list[str], most: int = 6) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
