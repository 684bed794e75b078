"""YAML read for its structure only: no tags, bounded size and depth, every node with its line."""

from collections.abc import Iterator
from typing import Any, Final

from vramledger.errors import BadInput

_LARGEST: Final = 1 << 20
_DEEPEST: Final = 64
_MOST_NODES: Final = 100_000
_CORE: Final = "tag:yaml.org,2002:"
_KNOWN_TAGS: Final = frozenset(
    _CORE + kind
    for kind in ("str", "int", "float", "bool", "null", "map", "seq", "timestamp", "merge", "value")
)
_MERGE: Final = "<<"


class Node:
    """One YAML value with its place. Reading a wrong kind raises with file, line and key."""

    def __init__(self, raw: Any, where: str, key: str = "") -> None:
        self.raw = raw
        self.where = where
        self.key = key

    @property
    def place(self) -> str:
        """``compose.yml, line 12, services.vllm.command``."""
        line = self.raw.start_mark.line + 1
        return f"{self.where}, line {line}" + (f", {self.key}" if self.key else "")

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
        return self.is_scalar and self.raw.tag == f"{_CORE}null"

    def entries(self) -> Iterator[tuple[str, "Node"]]:
        """Keys and values of a mapping, merged ones (``<<``) first; empty for null.

        Raises:
            BadInput: not a mapping.
        """
        if self.is_null:
            return
        if not self.is_mapping:
            raise BadInput(f"{self.place} must be a mapping of keys to values.")
        for key, value in self.raw.value:
            name = str(key.value)
            child = Node(value, self.where, f"{self.key}.{name}" if self.key else name)
            if name == _MERGE:
                merged = child.items() if child.is_list else [child]
                for source in merged:
                    yield from source.entries()
            else:
                yield name, child

    def get(self, *names: str) -> "Node | None":
        """The value under the nested keys, None where a level is missing or null."""
        node: Node | None = self
        for name in names:
            if node is None or not node.is_mapping:
                return None
            found = [child for key, child in node.entries() if key == name]
            node = found[-1] if found else None
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
        return "" if self.is_null else str(self.raw.value)

    def plain(self) -> Any:
        """The value as Python data: numbers, booleans and null by YAML's core rules."""
        if self.is_mapping:
            return {key: child.plain() for key, child in self.entries()}
        if self.is_list:
            return [child.plain() for child in self.items()]
        return _scalar(self.raw.tag, str(self.raw.value))


def load_documents(text: str, where: str) -> tuple[Node, ...]:
    """The documents of a YAML text.

    Raises:
        BadInput: not YAML, tags, too large, too deep or cyclic; with file and line.
    """
    import warnings

    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, ReusedAnchorWarning, YAMLError

    if len(text) > _LARGEST:
        raise BadInput(f"{where} is larger than 1 MiB; give the manifest alone.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReusedAnchorWarning)
            composed = list(YAML(typ="safe", pure=True).compose_all(text))
        roots = [raw for raw in composed if raw is not None]
        for raw in roots:
            _check(raw, where)
    except MarkedYAMLError as error:
        raise BadInput(_yaml_problem(error, text, where)) from None
    except (YAMLError, ValueError) as error:
        raise BadInput(f"{where} is not valid YAML: {_one_line(str(error))}.") from None
    except RecursionError:
        raise BadInput(f"{where} is nested too deeply to be a manifest.") from None
    return tuple(Node(raw, where) for raw in roots)


def _yaml_problem(error: Any, text: str, where: str) -> str:
    mark = error.problem_mark or error.context_mark
    line = f", line {mark.line + 1}" if mark is not None else ""
    if "{{" in text:
        return (
            f"{where}{line} holds template markers ({{{{ ... }}}}); render it first "
            "(for a chart: helm template) and give the result."
        )
    return f"{where}{line} is not valid YAML: {_one_line(str(error.problem or error.context))}."


def _one_line(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


def _check(root: Any, where: str) -> None:
    """Refuse tags, cycles, great depth and aliases that multiply."""
    budget = _MOST_NODES
    stack: list[tuple[Any, int]] = [(root, 1)]
    while stack:
        raw, depth = stack.pop()
        budget -= 1
        line = raw.start_mark.line + 1
        if budget < 0 or depth > _DEEPEST:
            raise BadInput(f"{where}, line {line} is nested too deeply or repeats itself.")
        if str(raw.tag) not in _KNOWN_TAGS:
            raise BadInput(f"{where}, line {line} has the tag {raw.tag}; tags are not read.")
        if raw.id == "mapping":
            stack += [(child, depth + 1) for pair in raw.value for child in pair]
        elif raw.id == "sequence":
            stack += [(child, depth + 1) for child in raw.value]


def _scalar(tag: str, text: str) -> Any:
    kind = tag.removeprefix(_CORE)
    if kind == "null":
        return None
    if kind == "bool":
        return text.casefold() in ("true", "yes", "on")
    try:
        if kind == "int":
            return int(text.replace("_", ""), 0)
        if kind == "float":
            return float(text.replace("_", ""))
    except ValueError:
        return text
    return text
