"""What two sides tell differently, before anybody asks what follows from what."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from vramledger.compare.difference import Difference, Kind
from vramledger.compare.fields import (
    ARGUMENT,
    CIRCUMSTANCES,
    CONDITIONS,
    DECISIVE,
    DEPLOYMENT,
    POOL,
    same,
    title_of,
)
from vramledger.compare.told import Told

_SEED: Final = "seed"
_OFFERED: Final = "requests_offered"
_AUTO: Final = frozenset({"auto", "none", "null", ""})
_POOL_NOISE: Final = 0.01  # what two starts of one server differ by
_OPEN_ENDED: Final = frozenset({"interrupted", "failed", "killed"})
_NOT_GIVEN: Final = "not given"


def differing(a: Told, b: Told) -> tuple[Difference, ...]:
    """Of one run with another, in the order in which A tells its settings; the size of the KV pool comes last."""
    names = dict.fromkeys((*a.settings, *b.settings))
    found = (_difference(name, a, b) for name in names)
    return tuple(sorted((each for each in found if each is not None), key=_pool_last))


def seeds_differ(a: Sequence[Told], b: Sequence[Told]) -> Difference | None:
    """Of all runs of two sides: where both drew several, chance is in the intervals and the seeds are no change."""
    ours, others = (sorted({t.settings.get(_SEED) for t in side}, key=str) for side in (a, b))
    if ours == others:
        return None
    several = len(ours) > 1 and len(others) > 1
    kind, why = (
        (Kind.ASIDE, "both sides have several, so that chance is in the intervals")
        if several
        else (Kind.CHANGE, "")
    )
    return Difference(_SEED, title_of(_SEED), _said(ours), _said(others), kind, why)


def _said(seeds: list[Any]) -> Any:
    return seeds[0] if len(seeds) == 1 else ", ".join(map(str, seeds))


def conduct_untold(found: Sequence[Difference]) -> tuple[Difference, ...]:
    """The same, with what only one kind of run has at all as a single condition."""
    if not any(each.name == "origin" for each in found):
        return tuple(found)
    of_kind = [each for each in found if each.kind is Kind.UNKNOWN and _is_conduct(each.name)]
    if not of_kind:
        return tuple(found)
    names = ", ".join(each.title for each in of_kind)
    one = Difference("conduct", "conduct of the run", None, None, Kind.CONDITION, f"one kind of run alone tells {names}")  # fmt: skip
    return (*(each for each in found if each not in of_kind), one)


def _is_conduct(name: str) -> bool:
    return not name.startswith((ARGUMENT, "sampling.")) and name not in DEPLOYMENT | DECISIVE


def _pool_last(found: Difference) -> bool:
    return found.name in POOL


def _difference(name: str, a: Told, b: Told) -> Difference | None:
    """None where there is none; seeds are for `seeds_differ`."""
    if name == _SEED:
        return None
    if name in a.settings and name in b.settings:
        return _both(name, a, b)
    teller, other = (a, b) if name in a.settings else (b, a)
    value = teller.settings[name]
    if value is None or name in POOL or name in CIRCUMSTANCES:
        return None
    kind, why = _alone(name, teller, other, is_a=teller is a)
    here, there = (value, None) if teller is a else (None, value)
    return Difference(name, title_of(name), here, there, kind, why)


def _alone(name: str, teller: Told, other: Told, *, is_a: bool) -> tuple[Kind, str]:
    """Unknown, but for what one launch gives and the other does not, and what the same client would have told of both runs."""
    launched = other.given is not None and name not in other.given
    if name.startswith(ARGUMENT) and launched and name in (teller.given or {}):
        return Kind.CHANGE, _NOT_GIVEN
    side, silent = ("A", "B") if is_a else ("B", "A")
    if _is_of_client(name) and _same_client(teller, other):
        return Kind.CHANGE, f"{silent} has none"
    return Kind.UNKNOWN, f"{side} alone tells it"


def _is_of_client(name: str) -> bool:
    """Whether the client knows it by itself, and no server has to tell it."""
    of_server = name.startswith((ARGUMENT, "sampling.")) or name in DEPLOYMENT
    return not of_server and name != "workload_sha256"


def _same_client(a: Told, b: Told) -> bool:
    one, other = a.description, b.description
    return one.client_version == other.client_version and one.origin == other.origin


def _both(name: str, a: Told, b: Told) -> Difference | None:
    one, other = a.settings[name], b.settings[name]
    if one == other or _are_same(name, a, b):
        return None
    kind, why = Kind.CHANGE, ""
    if name in POOL:
        if not _moved(one, other):
            return None
    elif name in CIRCUMSTANCES:
        kind, why = Kind.ASIDE, "a circumstance"
    elif name in CONDITIONS:
        kind, why = Kind.CONDITION, "it may be another machine, or the same after a restart"
    elif name == _OFFERED and _is_result(a, b):
        kind, why = Kind.ASIDE, "how many were sent is a result here"
    elif _as_asked(name, a, b):
        kind, why = Kind.CONDITION, "auto was asked for, and what it became was not seen"
    return Difference(name, title_of(name), one, other, kind, why)


def _are_same(name: str, a: Told, b: Told) -> bool:
    one, other = a.settings[name], b.settings[name]
    if one is None or other is None:
        return False
    if same(name, one, other):
        return True
    if name == "gpu":
        return _card(one) == _card(other)
    if name == "engine_version" and (name in a.asked_only) != (name in b.asked_only):
        asked, seen = (one, other) if name in a.asked_only else (other, one)
        return f"{seen}.".startswith(f"{asked}.")
    weights = [told.settings.get("weights_sha256") for told in (a, b)]
    moved = name == "model" and _last(one) == _last(other)
    return moved and weights[0] is not None and weights[0] == weights[1]


def _last(name: str) -> str:
    """A model by its own name, wherever it lies."""
    return name.rstrip("/").rpartition("/")[2].casefold()


def _card(name: str) -> str:
    """The name in our list, where it is there."""
    from vramledger.errors import VramError
    from vramledger.hardware.catalogue import find

    try:
        return find(name).name
    except VramError:
        return name


def _moved(one: Any, other: Any) -> bool:
    if not isinstance(one, int | float) or not isinstance(other, int | float):
        return False
    return abs(one - other) > _POOL_NOISE * max(abs(one), abs(other))


def _is_result(a: Told, b: Told) -> bool:
    """A closed loop sends as fast as it is answered, and a run that was ended early sends less."""
    closed = all(told.settings.get("closed") is not None for told in (a, b))
    return closed or any(told.settings.get("ended") in _OPEN_ENDED for told in (a, b))


def _as_asked(name: str, a: Told, b: Told) -> bool:
    if not name.startswith(ARGUMENT):
        return False
    return any(
        name in told.asked_only
        and name not in other.asked_only
        and str(told.settings[name]).casefold() in _AUTO
        for told, other in ((a, b), (b, a))
    )


def arguments_untold(a: Told, b: Told) -> Iterator[Difference]:
    """Where one side tells arguments and the other tells none at all, nobody knows whether they differ."""
    for side, told, other in (("A", a, b), ("B", b, a)):
        if told.arguments and not other.arguments:
            yield Difference(
                "arguments",
                "arguments of the engine",
                f"{len(told.arguments)} told" if side == "A" else None,
                f"{len(told.arguments)} told" if side == "B" else None,
                Kind.UNKNOWN,
                f"{side} alone tells any",
            )
