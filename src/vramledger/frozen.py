"""Frozen records: what ``dataclass(frozen=True, slots=True)`` makes, quicker to define.

The standard decorator compiles six methods a class. A command imports well over a hundred records,
so that compiling took a third of its time. Here a class compiles only its ``__init__``; the other
methods are shared and look at the fields. ``field``, ``fields`` and ``replace`` of `dataclasses`
work as they do on any dataclass.
"""

from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform

Record = TypeVar("Record")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[Record]) -> type[Record]:
    """The class as a frozen dataclass with slots; equal records have equal fields and hashes.

    Methods that the class defines itself stay. Options of `field` that count are ``default``,
    ``default_factory``, ``init``, ``repr``, ``compare`` and ``hash``.
    """
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    parts = fields(made)
    compared = _values(part for part in parts if part.compare)
    hashed = _values(part for part in parts if (part.compare if part.hash is None else part.hash))
    methods = {
        "__init__": _initializer(made, parts),
        "__repr__": _representation(tuple(part.name for part in parts if part.repr)),
        **_comparison(compared, hashed),
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
        "__getstate__": _state,
        "__setstate__": _restore,
    }
    for name, method in methods.items():
        if name not in cls.__dict__:
            setattr(made, name, method)
    return made  # type: ignore[no-any-return]


def _initializer(cls: type, parts: tuple[Field[Any], ...]) -> Callable[..., None]:
    """``__init__``, compiled from the names of the fields; defaults are looked up by name."""
    known: dict[str, Any] = {"_put": object.__setattr__, "_MISSING": MISSING}
    parameters, body = [], []
    for part in parts:
        name, default = part.name, f"_default_{part.name}"
        parameter = value = name
        if part.default_factory is not MISSING:
            known[default] = part.default_factory
            parameter = f"{name}=_MISSING"
            value = (
                f"{default}() if {name} is _MISSING else {name}" if part.init else f"{default}()"
            )
        elif part.default is not MISSING:
            known[default] = part.default
            parameter = f"{name}={default}"
            value = name if part.init else default
        elif not part.init:
            continue
        if part.init:
            parameters.append(parameter)
        body.append(f"_put(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    lines = "; ".join(body) or "pass"
    made: dict[str, Any] = {}
    exec(f"def __init__(self, {', '.join(parameters)}): {lines}", known, made)  # noqa: S102 - as the standard decorator does, of nothing but our own field names
    init: Callable[..., None] = made["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {part.name: part.type for part in parts if part.init}
    return init


def _representation(names: tuple[str, ...]) -> Callable[[Any], str]:
    def __repr__(self: Any) -> str:  # noqa: N807
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({shown})"

    return __repr__


def _values(parts: Iterable[Field[Any]]) -> Callable[[Any], Any]:
    """What tells records of a class apart: the values of these fields, or nothing but the class."""
    names = tuple(part.name for part in parts)
    return attrgetter(*names) if names else type


def _comparison(
    compared: Callable[[Any], Any], hashed: Callable[[Any], Any]
) -> dict[str, Callable[..., Any]]:
    def __eq__(self: Any, other: object) -> Any:  # noqa: N807
        return compared(self) == compared(other) if type(other) is type(self) else NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(hashed(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _refuse_to_set(_record: object, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_record: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(record: Any) -> list[Any]:
    return [getattr(record, part.name) for part in fields(record)]


def _restore(record: Any, state: list[Any]) -> None:
    for part, value in zip(fields(record), state, strict=True):
        object.__setattr__(record, part.name, value)
