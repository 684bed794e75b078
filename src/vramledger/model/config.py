"""A checked view of a ``config.json``: every value is read by name, with a range, or refused."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from vramledger.errors import BadInput
from vramledger.named_file import read_bytes

Value = TypeVar("Value")
LARGEST_DIMENSION: Final = 1 << 40
_LARGEST_CONFIG_BYTES: Final = 64 << 20


class Config:
    """One JSON object of a configuration, with the place it came from for messages.

    Keys read are remembered in `used` (and in `children`, for nested objects), so that tools can
    tell which figures a model rests on.
    Values are never guessed: a getter with a default uses it only when the key is absent or null.
    """

    def __init__(self, values: Mapping[str, Any], where: str, *, nested: bool = False) -> None:
        self.values = values
        self.where = where
        self.nested = nested  # a part of another configuration, which may leave out class defaults
        self.used: set[str] = set()
        self.children: dict[str, Config] = {}

    def changed(self, **changes: Any) -> "Config":
        """These values with some replaced, as a part of another configuration.

        What is read of it counts as read of this one.
        """
        other = Config({**self.values, **changes}, self.where, nested=True)
        other.used, other.children = self.used, self.children
        return other

    def has(self, key: str) -> bool:
        """Whether the key is there and not null."""
        self.used.add(key)
        return self.values.get(key) is not None

    def raw(self, key: str) -> Any:
        """The value as JSON gave it, None when absent."""
        self.used.add(key)
        return self.values.get(key)

    def integer(
        self, key: str, default: int | None = None, least: int = 1, most: int = LARGEST_DIMENSION
    ) -> int:
        """A whole number from `least` to `most`.

        Raises:
            BadInput: absent without a default, not a whole number, or out of range.
        """
        value = self.raw(key)
        if value is None:
            return self._otherwise(key, default)
        whole = _whole(value)
        if whole is None or not least <= whole <= most:
            raise BadInput(
                f"{self.where}: {key!r} is {_show(value)}; it must be a whole number from {least} "
                f"to {most}."
            )
        return whole

    def _otherwise(self, key: str, default: Value | None) -> Value:
        """The default of an absent key; without one the key is needed."""
        if default is None:
            raise BadInput(f"{self.where} has no {key!r}, which this architecture needs; add it.")
        return default

    def number(self, key: str, default: float) -> float:
        """A finite number."""
        value = self.raw(key)
        if value is None:
            return default
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
        ):
            raise BadInput(f"{self.where}: {key!r} is {_show(value)}; it must be a finite number.")
        return float(value)

    def flag(self, key: str, *, default: bool) -> bool:
        value = self.raw(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise BadInput(f"{self.where}: {key!r} is {_show(value)}; it must be true or false.")
        return value

    def text(self, key: str, default: str | None = None) -> str:
        value = self.raw(key)
        if value is None:
            return self._otherwise(key, default)
        if not isinstance(value, str):
            raise BadInput(f"{self.where}: {key!r} is {_show(value)}; it must be a string.")
        return value

    def items(self, key: str) -> Sequence[Any] | None:
        """A list, or None when the key is absent."""
        value = self.raw(key)
        if value is None:
            return None
        if not isinstance(value, list):
            raise BadInput(f"{self.where}: {key!r} is {_show(value)}; it must be a list.")
        return value

    def integers(self, key: str, least: int = 0) -> tuple[int, ...] | None:
        """A list of whole numbers, or None when the key is absent."""
        values = self.items(key)
        if values is None:
            return None
        whole = tuple(_whole(value) for value in values)
        checked = tuple(n for n in whole if n is not None and least <= n <= LARGEST_DIMENSION)
        if len(checked) != len(values):
            raise BadInput(
                f"{self.where}: {key!r} must hold whole numbers from {least} to {LARGEST_DIMENSION}."
            )
        return checked

    def texts(self, key: str) -> tuple[str, ...] | None:
        values = self.items(key)
        if values is None:
            return None
        if not all(isinstance(value, str) for value in values):
            raise BadInput(f"{self.where}: {key!r} must hold strings only.")
        return tuple(values)

    def sub(self, key: str) -> "Config | None":
        """The object under the key as a `Config` of its own, or None when absent."""
        value = self.raw(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise BadInput(f"{self.where}: {key!r} is {_show(value)}; it must be an object.")
        if key not in self.children:
            self.children[key] = Config(value, f"{self.where}, {key!r}")
        return self.children[key]


def parse_config(text: str | bytes, where: str) -> Config:
    """Read a configuration from JSON text.

    Raises:
        BadInput: empty, not UTF-8, not JSON, not an object, nested too deeply, or a key that is
            given two different values. Published files do hold
            ``Infinity``; a getter that meets NaN or infinity refuses it.
    """
    try:
        content = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        if not content.strip():
            raise BadInput(f"{where} is empty; fetch it again.")
        values = json.loads(content, object_pairs_hook=lambda pairs: _object(pairs, where))
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{where} is not UTF-8 text (byte {error.start}); save it as UTF-8."
        ) from None
    except RecursionError:
        raise BadInput(f"{where} is nested too deeply to be a model configuration.") from None
    except ValueError as error:
        raise BadInput(f"{where} is not valid JSON: {error}.") from None
    if not isinstance(values, dict):
        raise BadInput(
            f"{where} holds a JSON {type(values).__name__}; a configuration is an object."
        )
    return Config(values, where)


def _object(pairs: list[tuple[str, Any]], where: str) -> dict[str, Any]:
    """One object; the same key may stand twice only with the same value."""
    values = dict(pairs)
    if len(values) != len(pairs):
        for key, value in pairs:
            if repr(values[key]) != repr(value):
                raise BadInput(
                    f"{where} gives {key!r} twice, {_show(value)} and {_show(values[key])}; keep one."
                )
    return values


def read_config(path: Path) -> Config:
    """Read ``config.json`` from disk.

    Raises:
        BadInput: missing, unreadable, no regular file, larger than 64 MiB, or as `parse_config`.
    """
    return parse_config(read_bytes(path, _LARGEST_CONFIG_BYTES, "a configuration"), str(path))


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return None


def _show(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
