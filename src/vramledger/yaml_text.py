"""YAML as plain values with the line of every key; nothing in it is ever constructed or run.

Only mappings, lists and plain scalars are read. Tags are refused, aliases are followed within a
bound on the number of values, so that neither a tag nor a bomb of aliases reaches anything else.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from vramledger.errors import BadInput
from vramledger.frozen import frozen

Key: TypeAlias = str | int
KeyPath: TypeAlias = tuple[Key, ...]

MOST_CHARACTERS: Final = 1 << 20
_MOST_VALUES: Final = 50_000
_DEEPEST: Final = 40
_TAG: Final = "tag:yaml.org,2002:"
_INT: Final = re.compile(r"[-+]?(?:0x[0-9a-fA-F_]+|0o[0-7_]+|0b[01_]+|[0-9_]+)\Z")


@frozen
class YamlText:
    """One document: plain values, and the 1-based line where each key stands."""

    value: Any
    lines: Mapping[KeyPath, int]
    name: str

    def line(self, path: KeyPath) -> int:
        """The line of that key, or of the nearest key around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)

    def place(self, path: KeyPath) -> str:
        """``plan.yaml line 7``."""
        return f"{self.name} line {self.line(path)}"


def parse_yaml(text: str, name: str) -> YamlText:
    """The only document of a text; `name` says in messages where it came from.

    Raises:
        BadInput: it is not YAML, holds several documents or none, or more than we read.
    """
    documents = list(parse_all(text, name))
    if len(documents) != 1:
        count = "no YAML document" if not documents else f"{len(documents)} YAML documents"
        raise BadInput(f"{name} holds {count}; it should hold one.")
    return documents[0]


def parse_all(text: str, name: str) -> Iterator[YamlText]:
    """Every document of a text, in order; empty ones are left out.

    Raises:
        BadInput: it is not YAML or holds more than we read.
    """
    if len(text) > MOST_CHARACTERS:
        raise BadInput(
            f"{name} has {len(text):,} characters; files a person writes stay under "
            f"{MOST_CHARACTERS:,}."
        )
    for node in _compose(text, name):
        walk = _Walk(name)
        value = walk.read(node, ())
        if value is not None:
            yield YamlText(value, walk.lines, name)


def _compose(text: str, name: str) -> list[Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        nodes = list(YAML(typ="safe", pure=True).compose_all(text))
    except MarkedYAMLError as error:
        line = "" if error.problem_mark is None else f" line {error.problem_mark.line + 1}"
        raise BadInput(f"{name}{line} is not YAML: {error.problem}; mend that line.") from error
    except (YAMLError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise BadInput(f"{name} is not YAML: {reason}; mend or replace it.") from error
    except RecursionError as error:
        raise BadInput(f"{name} is nested deeper than any file a person writes.") from error
    return [node for node in nodes if node is not None]


@dataclass(slots=True)
class _Walk:
    """Turns nodes into plain values, counting what it made."""

    name: str
    lines: dict[KeyPath, int] = field(default_factory=dict)
    values: int = 0

    def read(self, node: Any, path: KeyPath) -> Any:
        self.values += 1
        line = node.start_mark.line + 1
        if self.values > _MOST_VALUES:
            raise BadInput(
                f"{self.name} line {line} holds more than {_MOST_VALUES:,} values, aliases "
                "written out; files a person writes hold fewer."
            )
        if len(path) > _DEEPEST:
            raise BadInput(f"{self.name} line {line} is nested more than {_DEEPEST} levels deep.")
        self.lines.setdefault(path, line)
        if not isinstance(node.value, list):
            return self._scalar(node, line)
        if str(node.tag) == f"{_TAG}map":
            return self._mapping(node, path)
        self._plain_tag(node, "seq", line)
        return [self.read(item, (*path, index)) for index, item in enumerate(node.value)]

    def _mapping(self, node: Any, path: KeyPath) -> dict[Key, Any]:
        mapping: dict[Key, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            key = self._key(key_node, line)
            if key in mapping:
                raise BadInput(
                    f"{self.name} line {line} gives {key!r} a second time; keep one of them."
                )
            self.lines[(*path, key)] = line
            mapping[key] = self.read(value_node, (*path, key))
        return mapping

    def _key(self, node: Any, line: int) -> Key:
        if str(node.tag) == f"{_TAG}merge":
            raise BadInput(
                f"{self.name} line {line} merges with '<<'; write the keys out where they belong."
            )
        key = None if isinstance(node.value, list) else self._scalar(node, line)
        if isinstance(key, bool) or not isinstance(key, str | int):
            raise BadInput(
                f"{self.name} line {line} has a key that is not a word; name it plainly."
            )
        return key

    def _scalar(self, node: Any, line: int) -> Any:
        text = self._characters(str(node.value), line)
        tag = str(node.tag)
        try:
            if tag == f"{_TAG}int":
                return _integer(text)
            if tag == f"{_TAG}float":
                return _float(text)
        except ValueError as error:
            raise BadInput(f"{self.name} line {line}: {text!r} is not a number.") from error
        if tag == f"{_TAG}bool":
            return text.casefold() in {"true", "yes", "on", "y"}
        if tag == f"{_TAG}null":
            return None
        if tag != f"{_TAG}timestamp":
            self._plain_tag(node, "str", line)
        return text

    def _characters(self, text: str, line: int) -> str:
        """The text with escaped surrogates joined, as JSON writes characters above U+FFFF."""
        if text.isascii():
            return text
        try:
            return text.encode("utf-16", "surrogatepass").decode("utf-16")
        except UnicodeDecodeError as error:
            raise BadInput(
                f"{self.name} line {line} holds half a character (a lone surrogate); remove it."
            ) from error

    def _plain_tag(self, node: Any, kind: str, line: int) -> None:
        if str(node.tag) != f"{_TAG}{kind}":
            written = str(node.tag).replace(_TAG, "!!")
            raise BadInput(
                f"{self.name} line {line} has the tag {written!r}; tags are not read, "
                "write a plain value."
            )


def _integer(text: str) -> int:
    if _INT.match(text) is None or len(text) > 400:
        raise ValueError(text)
    bare = text.replace("_", "")
    digits = bare.lstrip("+-")
    base = {"0x": 16, "0o": 8, "0b": 2}.get(digits[:2].casefold(), 10)
    return int(bare, base)


def _float(text: str) -> float:
    bare = text.replace("_", "").casefold()
    special = {".inf": "inf", "+.inf": "inf", "-.inf": "-inf", ".nan": "nan"}
    return float(special.get(bare, bare))
