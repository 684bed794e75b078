"""The JSON object of a request, and its values with their types checked."""

from collections.abc import Mapping
from typing import Any, TypeVar

import orjson

from vramledger.rehearse.api.refusal import Refusal

_Value = TypeVar("_Value")


def parsed(body: bytes) -> dict[str, Any]:
    """The object in a body.

    Raises:
        Refusal: it is none.
    """
    try:
        found = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise Refusal("The body is not JSON.") from None
    if not isinstance(found, dict):
        raise Refusal("The body is not a JSON object.")
    return found


def value(body: Mapping[str, Any], name: str, kind: type[_Value], default: _Value) -> _Value:
    """The value of that name, the default where it is absent or null.

    Raises:
        Refusal: it is of another type.
    """
    found = body.get(name)
    if found is None:
        return default
    if not isinstance(found, kind) or (isinstance(found, bool) and kind is not bool):
        raise Refusal(f"{name} must be of type {kind.__name__}.", param=name)
    return found


def count(body: Mapping[str, Any], name: str, default: int, least: int = 0) -> int:
    """A whole number of at least `least`.

    Raises:
        Refusal: it is none.
    """
    found = value(body, name, int, default)
    if found < least:
        raise Refusal(f"{name} must be at least {least}, got {found}.", param=name)
    return found
