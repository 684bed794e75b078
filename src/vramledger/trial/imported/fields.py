"""Values out of a file of another tool: of the right kind and finite, or refused with their place."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final

from vramledger.errors import BadInput

_MOST_S: Final = 1e11  # since 1970, in seconds, or a length of time: 3,000 years
_MOST_TOKENS: Final = (1 << 31) - 1


class Fields:
    """A mapping at a place of a file; what is missing is None.

    Raises:
        BadInput: in every method, a value is not of the kind asked for.
    """

    def __init__(self, content: Any, where: str) -> None:
        if not isinstance(content, Mapping):
            raise BadInput(f"{where} is no mapping; use an unchanged copy of the file.")
        self._content, self.where = content, where

    def has(self, name: str) -> bool:
        """Whether the key is there."""
        return name in self._content

    def part(self, name: str) -> "Fields":
        """A mapping in it; an empty one where it is missing or null."""
        found = self._content.get(name)
        return Fields({} if found is None else found, f"{self.where}, {name}")

    def mapping(self) -> Mapping[str, Any]:
        """The mapping itself."""
        return self._content

    def rows(self, name: str) -> list[Any]:
        """A list in it."""
        found = self._content.get(name)
        if found is None:
            return []
        if not isinstance(found, list):
            raise self._bad(name, found, "a list")
        return found

    def text(self, name: str) -> str | None:
        """A text in it."""
        found = self._content.get(name)
        return found if isinstance(found, str) else None

    def seconds(self, name: str, factor: float = 1.0) -> float | None:
        """A moment or a length of time, in seconds after `factor`."""
        found = self._content.get(name)
        return None if found is None else time_of(found, factor, f"{self.where}, {name}")

    def tokens(self, name: str) -> int | None:
        """A count of tokens or requests; floats that are whole count too."""
        found = self._content.get(name)
        return None if found is None else count_of(found, f"{self.where}, {name}")

    def _bad(self, name: str, found: Any, what: str) -> BadInput:
        return bad(f"{self.where}, {name}", found, what)


def bad(where: str, found: Any, what: str) -> BadInput:
    """The refusal of a value."""
    return BadInput(f"{where} is {_shown(found)}, not {what}; use an unchanged copy of the file.")


def time_of(found: Any, factor: float, where: str) -> float:
    """Seconds, finite and of this age."""
    if isinstance(found, bool) or not isinstance(found, int | float) or not isfinite(found):
        raise bad(where, found, "a time")
    value = found * factor
    if abs(value) > _MOST_S:
        raise bad(where, found, "a time of this age")
    return float(value)


def count_of(found: Any, where: str) -> int:
    """A count of tokens or requests, which fits 31 bits."""
    if isinstance(found, bool) or not isinstance(found, int | float) or not isfinite(found):
        raise bad(where, found, "a count")
    if found != int(found) or not 0 <= found <= _MOST_TOKENS:
        raise bad(where, found, f"a count from 0 to {_MOST_TOKENS:,}")
    return int(found)


def _shown(found: Any) -> str:
    text = repr(found)
    return text if len(text) <= 40 else f"{text[:40]}..."
