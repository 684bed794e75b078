"""Typed reading of a launch's flags: every value is checked against the range vLLM's parser has."""

import json
import math
from collections.abc import Mapping
from typing import Any, TypeVar

from vramledger.engine.launch import Flag, Launch, remedy_for_unknown
from vramledger.engine.setting import Origin, Setting
from vramledger.errors import BadInput, UnknownName
from vramledger.units import parse_count

T = TypeVar("T")

_NONE_WORDS = frozenset({"", "none"})
_LARGEST = 1 << 62


class Values:
    """The flags of one launch, read by canonical name; a flag that is absent gives None."""

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.where = launch.where

    def _flag(self, name: str) -> Flag | None:
        flag = self.launch.flag(name)
        if flag is not None and flag.unknown:
            raise BadInput(
                f"{flag.written} in {self.where} is {flag.value!r}, and the value of "
                f"{flag.unknown[0]} is not given; {remedy_for_unknown(self.where)}."
            )
        return flag

    def text(self, name: str, known: tuple[str, ...] = ()) -> str | None:
        """The value as written, without blanks around it; ``None`` counts as absent.

        Raises:
            UnknownName: `known` is not empty and the value is none of them.
        """
        flag = self._flag(name)
        if flag is None or flag.value is None or flag.value.strip().casefold() in _NONE_WORDS:
            return None
        value = flag.value.strip()
        if known and value not in known:
            raise UnknownName(f"value of {flag.written}", value, known, self.where)
        return value

    def words(self, name: str) -> tuple[str, ...]:
        """Every value of a flag that takes several."""
        flag = self._flag(name)
        return flag.values if flag else ()

    def integer(self, name: str, least: int = 1, most: int = _LARGEST) -> int | None:
        """A whole number or a count such as 32k, from `least` to `most`.

        Raises:
            BadInput: no number, or out of range; the message names the flag and the range.
        """
        text = self.text(name)
        if text is None:
            return None
        written = f"{self.launch_written(name)} in {self.where}"
        value = int(text) if _is_whole(text) else parse_count(text, written)
        if not least <= value <= most:
            raise BadInput(f"{written} is {text}; it must be {_range(least, most)}.")
        return value

    def number(
        self, name: str, least: float = 0.0, most: float = math.inf, *, open_below: bool = False
    ) -> float | None:
        """A finite number from `least` (itself left out where `open_below`) to `most`."""
        text = self.text(name)
        if text is None:
            return None
        written = f"{self.launch_written(name)} in {self.where}"
        try:
            value = float(text)
        except ValueError:
            raise BadInput(f"{written} is {text!r}, which is not a number.") from None
        below = value <= least if open_below else value < least
        if not math.isfinite(value) or below or value > most:
            allowed = _open_range(least, most) if open_below else _range(least, most)
            raise BadInput(f"{written} is {text}; it must be {allowed}.")
        return value

    def switch(self, name: str) -> bool | None:
        """Whether a switch is on; None when it is not given."""
        flag = self._flag(name)
        if flag is None:
            return None
        if flag.value is None or flag.value.casefold() == "true":
            return True
        if flag.value.casefold() == "false":
            return False
        raise BadInput(
            f"{flag.written} in {self.where} is {flag.value!r}; it must be true or false."
        )

    def json(self, name: str) -> Mapping[str, Any] | None:
        """A JSON object.

        Raises:
            BadInput: the value is not JSON or not an object.
        """
        text = self.text(name)
        if text is None:
            return None
        written = f"{self.launch_written(name)} in {self.where}"
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            raise BadInput(
                f"{written} is {_short(text)}, which is not valid JSON; put the object in single "
                "quotes and its keys in double quotes."
            ) from None
        if not isinstance(value, dict):
            raise BadInput(f"{written} is {_short(text)}; it must be a JSON object.")
        return value

    def launch_written(self, name: str) -> str:
        """The flag as the person wrote it."""
        flag = self.launch.flag(name)
        return flag.written if flag else f"--{name}"

    def environment_switch(self, name: str) -> bool | None:
        """A variable that vLLM reads as 0 or 1; None when it is not set to either."""
        text = self.launch.environment.get(name, "").strip().casefold()
        return {"1": True, "true": True, "0": False, "false": False}.get(text)


def given_or(given: T | None, default: T, origin: Origin = Origin.DEFAULT) -> Setting[T]:
    """The given value, or the engine's default."""
    return Setting(default, origin) if given is None else Setting(given, Origin.GIVEN)


def json_integer(
    values: Mapping[str, Any], key: str, where: str, default: int, least: int = 0
) -> int:
    """A whole number inside a JSON flag.

    Raises:
        BadInput: not a whole number of at least `least`.
    """
    value = values.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise BadInput(
            f"{where}: {key!r} is {value!r}; it must be a whole number of at least {least}."
        )
    return value


def json_text(values: Mapping[str, Any], key: str, where: str) -> str | None:
    """A string inside a JSON flag, None when absent."""
    value = values.get(key)
    if value is not None and not isinstance(value, str):
        raise BadInput(f"{where}: {key!r} is {value!r}; it must be a string.")
    return value


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isascii() and text.removeprefix("-").isdigit() and len(text) < 20


def _range(least: float, most: float) -> str:
    if most in (math.inf, _LARGEST):
        return f"at least {least:g}"
    return f"from {least:g} to {most:g}"


def _open_range(least: float, most: float) -> str:
    return f"above {least:g}" + ("" if most == math.inf else f" and at most {most:g}")


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
