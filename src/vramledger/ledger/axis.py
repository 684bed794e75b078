"""The axis of a table: what is varied, its values, and the case or load that each value makes."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from vramledger.engine.vllm.flags import flag_table
from vramledger.engine.vllm.versions import rules_for
from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.ledger.case import Case
from vramledger.ledger.question import accelerator_for
from vramledger.units import parse_count

_MOST_VALUES: Final = 64
_SUFFIXED: Final = re.compile(r"\d+(?:\.\d+)?[kmgtKMGT]")
_OTHER_QUESTIONS: Final = frozenset({"model", "config"})


@frozen
class Axis:
    """What is varied and the values to try: a flag of the engine, or a part of the question."""

    name: str
    values: tuple[str, ...]


@frozen
class Point:
    """What one value asks: a case, and so many requests of so many tokens (None: full length)."""

    case: Case
    requests: int
    request_tokens: int | None


def parse_axis(text: str) -> Axis:
    """Read ``max-model-len=4k..128k`` (doubling) or ``kv-cache-dtype=auto,fp8``.

    Suffixes are binary in both forms, since lengths are: 4k is 4096.

    Raises:
        BadInput: no ``=``, no value, a range that does not grow, or more than 64 values.
    """
    name, separator, values = text.partition("=")
    name = name.strip().lstrip("-").replace("_", "-")
    if not separator or not name or not values.strip():
        raise BadInput(
            f"--table {text!r} is not NAME=VALUES; write --table max-model-len=4k..128k or "
            "--table kv-cache-dtype=auto,fp8."
        )
    low, dots, high = values.partition("..")
    found = (
        _doubling(name, low, high)
        if dots
        else tuple(_binary(value.strip(), name) for value in values.split(","))
    )
    if len(found) > _MOST_VALUES or not all(found):
        raise BadInput(f"--table {text!r} must give between 1 and {_MOST_VALUES} values.")
    return Axis(name, found)


def _binary(value: str, name: str) -> str:
    """A count with a suffix, written out; any other value as it stands."""
    if not _SUFFIXED.fullmatch(value):
        return value
    return str(parse_count(value.upper(), f"a value of --table {name}"))


def _doubling(name: str, low: str, high: str) -> tuple[str, ...]:
    first = parse_count(low.upper(), f"the start of --table {name}")
    last = parse_count(high.upper(), f"the end of --table {name}")
    if not 0 < first <= last:
        raise BadInput(f"--table {name}={low}..{high} must run from a smaller to a larger number.")
    values = []
    while first < last:
        values.append(str(first))
        first *= 2
    return (*values, str(last))


def resolve_axis(axis: Axis, case: Case) -> Axis:
    """The axis under the one name that counts: a part of the question, or a flag's whole name.

    Abbreviations, short forms and underscores are taken as the engine's own parser takes them.

    Raises:
        BadInput: another question, a flag this version does not accept, or an abbreviation of several.
        UnknownName: no release has such a flag.
    """
    if axis.name in _PARTS:
        return axis
    if axis.name in _OTHER_QUESTIONS:
        raise BadInput(f"--table {axis.name} would change the question; compare two with --vs.")
    flags = flag_table(rules_for(case.version or case.launch.version).release)
    short = f"-{axis.name}"
    found = flags.find(short if flags.knows(short) else f"--{axis.name}", "--table")
    if found.refused:
        raise BadInput(f"--table {axis.name} cannot be varied: {found.refused}.")
    if found.negated:
        raise BadInput(
            f"--table {axis.name} is the negation of a flag; write "
            f"--table {found.spec.name}=true,false."
        )
    return Axis(found.spec.name, axis.values)


def at(axis: Axis, value: str, start: Point) -> Point:
    """What `value` of a resolved axis makes of `start`.

    Raises:
        BadInput: the value is not one of the kind.
        UnknownName: no such accelerator.
    """
    part = _PARTS.get(axis.name)
    if part is not None:
        return part(start, value)
    return replace(start, case=start.case.with_flag(axis.name, value))


def _at_least_one(text: str, what: str) -> int:
    count = parse_count(text, f"--table {what}")
    if count < 1:
        raise BadInput(f"--table {what} has the value {text}; it must be at least 1.")
    return count


def _with_requests(start: Point, value: str) -> Point:
    return replace(start, requests=_at_least_one(value, "concurrency"))


def _with_tokens(start: Point, value: str) -> Point:
    return replace(start, request_tokens=_at_least_one(value, "request-tokens"))


def _with_gpu(start: Point, value: str) -> Point:
    return replace(
        start, case=replace(start.case, accelerator=accelerator_for(value, where="--table gpu"))
    )


def _with_version(start: Point, value: str) -> Point:
    rules_for(value)  # an unknown version is refused here, not in a row
    return replace(start, case=replace(start.case, version=value))


_PARTS: Final[dict[str, Callable[[Point, str], Point]]] = {
    "concurrency": _with_requests,
    "request-tokens": _with_tokens,
    "gpu": _with_gpu,
    "engine-version": _with_version,
}
