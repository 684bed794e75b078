"""JSON that sits inside a field of a record, as text or already parsed."""

import json
from collections.abc import Mapping
from typing import Any

from vramledger.workload.raw import RowProblem

_NOTHING: Mapping[str, Any] = {}


def mapping(value: Any, name: str) -> Mapping[str, Any]:
    """The object in a field; empty where the field is absent, empty or holds anything else.

    Raises:
        RowProblem: text that begins like an object and is none.
    """
    if isinstance(value, dict):
        return value
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return _NOTHING
    found = _parsed(value, name)
    return found if isinstance(found, dict) else _NOTHING


def value_of(value: Any, name: str) -> Any:
    """The value in a field: text that begins like an object or an array is parsed, other stays.

    Raises:
        RowProblem: text that begins so and is no JSON.
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        return _parsed(value, name)
    return value


def value_or_text(value: Any) -> Any:
    """As `value_of`, but text that is no JSON after all stays text: a prompt may begin with "[".

    Cut at a length, as logs do it, JSON is text too.
    """
    try:
        return value_of(value, "text")
    except RowProblem:
        return value


def first_text(*values: Any) -> str | None:
    """The first value that is text or a number and not empty, as text."""
    for value in values:
        if isinstance(value, str) and value.strip() not in ("", "-", "None", "null"):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
    return None


def _parsed(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise RowProblem(f"{name} is not JSON") from None
