"""YAML read for its structure: values as written, each with its place."""

from collections.abc import Iterator
from typing import Any

from vramledger.errors import BadInput
from vramledger.yaml_nodes import NotYaml, compose, line_of, scalar_of, tag_of, text_of


class Node:
    """One YAML value with its place. Reading a wrong kind raises with file, line and key."""

    def __init__(self, raw: Any, where: str, key: str = "") -> None:
        self.raw = raw
        self.where = where
        self.key = key

    @property
    def place(self) -> str:
        """``compose.yml line 12, services.vllm.command``."""
        return f"{self.where} line {line_of(self.raw)}" + (f", {self.key}" if self.key else "")

    @property
    def is_mapping(self) -> bool:
        return bool(self.raw.id == "mapping")

    @property
    def is_list(self) -> bool:
        return bool(self.raw.id == "sequence")

    @property
    def is_scalar(self) -> bool:
        return bool(self.raw.id == "scalar")

    @property
    def is_null(self) -> bool:
        return self.is_scalar and tag_of(self.raw) == "null"

    def entries(self) -> Iterator[tuple[str, "Node"]]:
        """Keys and values of a mapping; empty for null.

        Of a key that comes several times the last one counts: merged mappings (``<<``) come before
        own keys, and the earlier of several merged ones after the later, as it wins over them.

        Raises:
            BadInput: not a mapping.
        """
        if self.is_null:
            return
        if not self.is_mapping:
            raise BadInput(f"{self.place} must be a mapping of keys to values.")
        children = [(key, self._child(key, value)) for key, value in self.raw.value]
        for key, child in children:
            if tag_of(key) == "merge":
                for source in reversed(child.items()) if child.is_list else [child]:
                    yield from source.entries()
        for key, child in children:
            if tag_of(key) != "merge":
                yield text_of(key, self.where), child

    def _child(self, key: Any, value: Any) -> "Node":
        name = text_of(key, self.where)
        return Node(value, self.where, f"{self.key}.{name}" if self.key else name)

    def get(self, *names: str) -> "Node | None":
        """The value under the nested keys, None where a level is missing or null."""
        node: Node | None = self
        for name in names:
            if node is None or not node.is_mapping:
                return None
            node = dict(node.entries()).get(name)
        return None if node is None or node.is_null else node

    def items(self) -> list["Node"]:
        """The members of a list.

        Raises:
            BadInput: not a list.
        """
        if not self.is_list:
            raise BadInput(f"{self.place} must be a list.")
        return [
            Node(raw, self.where, f"{self.key}[{index}]")
            for index, raw in enumerate(self.raw.value)
        ]

    def text(self) -> str:
        """A scalar as written.

        Raises:
            BadInput: a mapping or a list.
        """
        if not self.is_scalar:
            raise BadInput(f"{self.place} must be a single value.")
        return "" if self.is_null else text_of(self.raw, self.where)

    def plain(self) -> Any:
        """The value as Python data: numbers, booleans and null by YAML's core rules."""
        if self.is_mapping:
            return {key: child.plain() for key, child in self.entries()}
        if self.is_list:
            return [child.plain() for child in self.items()]
        return scalar_of(self.raw, self.where)


def load_documents(text: str, where: str) -> tuple[Node, ...]:
    """The documents of a YAML text.

    Raises:
        BadInput: not YAML, tags, too large, too deep or cyclic; with file and line.
    """
    try:
        return tuple(Node(raw, where) for raw in compose(text, where))
    except NotYaml as error:
        if "{{" not in text:
            raise
        raise BadInput(
            f"{error.place} holds template markers ({{{{ ... }}}}); render it first "
            "(for a chart: helm template) and give the result."
        ) from None
