"""The JSON of a profile: the record's own names, `schema` on top, cells as short lists.

The scenario that is the whole log (tail) leaves out what the profile itself says.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass, replace
from math import isfinite
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Final, Union, get_args, get_origin

from vramledger.errors import BadInput
from vramledger.workload.profile.arrivals import STEPS_S
from vramledger.workload.profile.bins import EDGES
from vramledger.workload.profile.profile import SCHEMA, Arrival, Cell, Lengths, Profile, Slice
from vramledger.written_file import refuse_place

_OF_WHOLE: Final = ("input_tokens", "output_tokens", "joint")


def to_json(profile: Profile) -> dict[str, Any]:
    """Plain dicts, lists, numbers and text."""
    slices = tuple(_shortened(each, profile) for each in profile.scenarios)
    found: dict[str, Any] = _plain(replace(profile, scenarios=slices))
    return {"schema": SCHEMA} | found


def from_json(content: Any, where: str) -> Profile:
    """The profile that `to_json` wrote.

    Raises:
        BadInput: not ours, of another schema, or with a value of the wrong kind; says which key.
    """
    if not isinstance(content, Mapping) or content.get("schema") != SCHEMA:
        stated = content.get("schema") if isinstance(content, Mapping) else None
        raise BadInput(
            f"{where}: its schema is {stated!r}, and a profile's is {SCHEMA!r}; make one with "
            "`vram workload profile WORKLOAD -o profile.json`."
        )
    values = {key: value for key, value in content.items() if key != "schema"}
    found: Profile = _record(Profile, values, where, "")
    return replace(found, scenarios=tuple(_completed(each, found) for each in found.scenarios))


def text(profile: Profile) -> str:
    """The JSON, a line a part."""
    lines = (
        f"{json.dumps(key)}: {json.dumps(value, separators=(',', ':'))}"
        for key, value in to_json(profile).items()
    )
    return "{\n" + ",\n".join(lines) + "\n}"


def write(profile: Profile, path: Path) -> None:
    """Write the JSON; the file appears whole or not at all.

    Raises:
        BadInput: it cannot be written.
    """
    refuse_place(path)
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text(profile) + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written: {error.strerror or error}; choose another -o."
        ) from None
    finally:
        part.unlink(missing_ok=True)


def _shortened(each: Slice, profile: Profile) -> Slice:
    same = all(getattr(each, name) == getattr(profile, name) for name in _OF_WHOLE)
    if each.start_s is not None or not same:
        return each
    return replace(each, input_tokens=None, output_tokens=None, joint=None)


def _completed(each: Slice, profile: Profile) -> Slice:
    if each.start_s is not None:
        return each
    return replace(
        each,
        input_tokens=each.input_tokens or profile.input_tokens,
        output_tokens=each.output_tokens or profile.output_tokens,
        joint=each.joint or profile.joint,
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Cell):
        return [getattr(value, part.name) for part in fields(value)]
    if is_dataclass(value):
        return {part.name: _plain(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return value


def _read(kind: Any, value: Any, where: str, key: str) -> Any:
    """A value of a field's type, out of JSON."""
    origin = get_origin(kind)
    if kind is Any:
        return value
    if origin in (Union, UnionType):
        return _optional(kind, value, where, key)
    if origin is tuple:
        return _tuple(get_args(kind), value, where, key)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        _need(isinstance(value, Mapping), where, key, "an object")
        of = get_args(kind)[1]
        return {str(name): _read(of, each, where, f"{key}.{name}") for name, each in value.items()}
    if is_dataclass(kind):
        return _record(kind, value, where, key)
    said, fits = _PLAIN[kind]
    _need(fits(value), where, key, said)
    return kind(value)


def _optional(kind: Any, value: Any, where: str, key: str) -> Any:
    if value is None:
        return None
    (of,) = (each for each in get_args(kind) if each is not NoneType)
    return _read(of, value, where, key)


def _tuple(of: tuple[Any, ...], value: Any, where: str, key: str) -> tuple[Any, ...]:
    _need(isinstance(value, list), where, key, "a list")
    kinds = of[:1] * len(value) if of[-1] is Ellipsis else of
    _need(len(value) == len(kinds), where, key, f"a list of {len(kinds)}")
    pairs = zip(kinds, value, strict=True)
    return tuple(
        _read(kind, each, where, f"{key}[{place}]") for place, (kind, each) in enumerate(pairs)
    )


def _record(kind: Any, value: Any, where: str, key: str) -> Any:
    parts = fields(kind)
    if kind is Cell and isinstance(value, list):
        value = dict(zip((part.name for part in parts), value, strict=False))
    _need(isinstance(value, Mapping), where, key, "an object")
    found = {}
    for part in parts:
        inner = f"{key}.{part.name}" if key else part.name
        if part.name in value:
            found[part.name] = _read(part.type, value[part.name], where, inner)
        elif part.default is MISSING and part.default_factory is MISSING:
            raise BadInput(f"{where}: {inner} is missing; make the profile again.")
    made = kind(**found)
    if kind is Cell:
        _need(0 <= made.input_bin < len(EDGES), where, key, "a cell of known bins")
        _need(0 <= made.output_bin < len(EDGES), where, key, "a cell of known bins")
        _need(made.requests > 0, where, key, "a cell with requests")
    if kind is Arrival:
        _need(made.step_s in STEPS_S, where, f"{key}.step_s", f"one of {STEPS_S}")
    if kind is Lengths:
        _need(_known(made.bins), where, f"{key}.bins", "pairs of a known bin and its requests")
    return made


def _known(bins: tuple[tuple[int, int], ...]) -> bool:
    return all(0 <= each < len(EDGES) and requests > 0 for each, requests in bins)


def _need(holds: bool, where: str, key: str, kind: str) -> None:  # noqa: FBT001 - the condition
    if not holds:
        raise BadInput(f"{where}: {key or 'the profile'} must be {kind}; make the profile again.")


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


_PLAIN: Final[Mapping[Any, tuple[str, Callable[[Any], bool]]]] = {
    int: ("a whole number", _whole),
    float: ("a number", _finite),
    str: ("text", lambda value: isinstance(value, str)),
    bool: ("true or false", lambda value: isinstance(value, bool)),
}
