"""The points of a sweep: each change alone, or every combination; and the axes that are typed."""

from itertools import product
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.methods.sweep.base import Base
from vramledger.methods.sweep.point import Point, point_of
from vramledger.methods.sweep.settings import (
    OPTION,
    PARTS,
    VERSION,
    canonical_name,
    changed,
    refuse_no_number,
)
from vramledger.units import parse_count

MOST_POINTS: Final = 100_000
_OPENING: Final = {"[": "]", "{": "}"}


@frozen
class Axis:
    """A setting and the values to try, as typed."""

    name: str
    values: tuple[str, ...]


def axes_of(texts: tuple[str, ...], base: Base) -> tuple[Axis, ...]:
    """The axes of ``NAME=VALUE,VALUE`` or ``NAME=64..512`` (doubling), each value tried on the base.

    Raises:
        BadInput: a text that is none, the same setting twice, or a value that its setting never has.
        UnknownName: a setting, card, model, version or scenario that is none.
    """
    split = [_split(text) for text in texts]
    names = [name for name, _ in split]
    axes = tuple(Axis(canonical_name(name, base, names), values) for name, values in split)
    for number, axis in enumerate(axes):
        if axis.name in {other.name for other in axes[:number]}:
            raise BadInput(
                f"{OPTION} {axis.name} is given twice; write all its values in one: "
                f"{OPTION} {axis.name}=A,B."
            )
    _try_each(axes, base)
    return axes


def _try_each(axes: tuple[Axis, ...], base: Base) -> None:
    """Refuse a value that is none; a flag's may be one in another version that is tried."""
    versions = any(axis.name == VERSION for axis in axes)
    for axis in axes:
        if versions and axis.name not in PARTS:
            continue
        for value in axis.values:
            if axis.name not in PARTS:
                refuse_no_number(axis.name, value, base)
            changed(base, point_of({axis.name: value}))


def one_at_a_time(axes: tuple[Axis, ...]) -> tuple[Point, ...]:
    """The base, then each change alone, in the order they were typed."""
    alone = [point_of({axis.name: value}) for axis in axes for value in axis.values]
    return _limited((Point(), *dict.fromkeys(alone)))


def grid(axes: tuple[Axis, ...]) -> tuple[Point, ...]:
    """The base, then every combination of values, the last axis changing first.

    Raises:
        BadInput: more combinations than a sweep takes.
    """
    count = 1
    for axis in axes:
        count *= len(axis.values)
    if count > MOST_POINTS:
        raise BadInput(
            f"The grid has {count:,} points, and a sweep takes {MOST_POINTS:,}; give fewer values."
        )
    names = [axis.name for axis in axes]
    combined = [
        point_of(dict(zip(names, values, strict=True)))
        for values in product(*(axis.values for axis in axes))
    ]
    return (Point(), *dict.fromkeys(combined))


def _limited(points: tuple[Point, ...]) -> tuple[Point, ...]:
    if len(points) > MOST_POINTS:
        raise BadInput(f"{len(points):,} points are too many; a sweep takes {MOST_POINTS:,}.")
    return points


def _split(text: str) -> tuple[str, tuple[str, ...]]:
    name, sign, rest = text.partition("=")
    if not sign or not name.strip() or not rest.strip():
        raise BadInput(
            f"{OPTION} {text!r} is not NAME=VALUES; write {OPTION} max-num-seqs=64,128 or "
            f"{OPTION} gpu=L40S,H200-141GB-SXM."
        )
    low, dots, high = rest.partition("..")
    values = _doubling(name, low, high) if dots and low.strip()[:1].isdigit() else _values(rest)
    if not all(values):
        raise BadInput(f"{OPTION} {text!r} has an empty value; write values between commas.")
    return name, tuple(dict.fromkeys(values))


def _values(text: str) -> tuple[str, ...]:
    """Parts between commas, those inside brackets and quotes left alone: a value may be JSON."""
    parts, closing, start, quoted = [], "", 0, False
    for place, sign in enumerate(text):
        if sign == '"':
            quoted = not quoted
        elif not quoted and sign in _OPENING:
            closing += _OPENING[sign]
        elif not quoted and closing and sign == closing[-1]:
            closing = closing[:-1]
        elif sign == "," and not quoted and not closing:
            parts.append(text[start:place].strip())
            start = place + 1
    return (*parts, text[start:].strip())


def _doubling(name: str, low: str, high: str) -> tuple[str, ...]:
    first = parse_count(low.strip().upper(), f"the start of {OPTION} {name}")
    last = parse_count(high.strip().upper(), f"the end of {OPTION} {name}")
    if not 0 < first <= last:
        raise BadInput(f"{OPTION} {name}={low}..{high} must run from a smaller to a larger number.")
    values = []
    while first < last:
        values.append(str(first))
        first *= 2
    return (*values, str(last))
