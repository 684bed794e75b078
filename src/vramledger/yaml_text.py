"""YAML as plain values with the line of every key."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.yaml_nodes import compose, line_of, scalar_of, tag_of

Key: TypeAlias = str | int
KeyPath: TypeAlias = tuple[Key, ...]


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
        BadInput: it is not YAML, holds more than we read, a key twice or a key that is no word.
    """
    for node in compose(text, name):
        walk = _Walk(name)
        value = walk.read(node, ())
        if value is not None:
            yield YamlText(value, walk.lines, name)


@dataclass(slots=True)
class _Walk:
    """Turns nodes into plain values, noting their lines."""

    name: str
    lines: dict[KeyPath, int] = field(default_factory=dict)

    def read(self, node: Any, path: KeyPath) -> Any:
        self.lines.setdefault(path, line_of(node))
        if node.id == "mapping":
            return self._mapping(node, path)
        if node.id == "sequence":
            return [self.read(item, (*path, index)) for index, item in enumerate(node.value)]
        return scalar_of(node, self.name)

    def _mapping(self, node: Any, path: KeyPath) -> dict[Key, Any]:
        mapping: dict[Key, Any] = {}
        for key_node, value_node in node.value:
            line = line_of(key_node)
            key = self._key(key_node, line)
            if key in mapping:
                raise BadInput(
                    f"{self.name} line {line} gives {key!r} a second time; keep one of them."
                )
            self.lines[(*path, key)] = line
            mapping[key] = self.read(value_node, (*path, key))
        return mapping

    def _key(self, node: Any, line: int) -> Key:
        if tag_of(node) == "merge":
            raise BadInput(
                f"{self.name} line {line} merges with '<<'; write the keys out where they belong."
            )
        key = scalar_of(node, self.name)
        if isinstance(key, bool) or not isinstance(key, str | int):
            raise BadInput(
                f"{self.name} line {line} has a key that is not a word; name it plainly."
            )
        return key
