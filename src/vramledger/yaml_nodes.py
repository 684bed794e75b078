"""The one door for YAML: its nodes, checked and bounded; nothing in them is constructed or run.

Tags are refused, aliases are followed within a bound on the number of values, so that neither a tag
nor a bomb of aliases reaches anything else. A node is ruamel.yaml's: ``id`` is ``mapping``,
``sequence`` or ``scalar``, ``value`` holds pairs of nodes, nodes, or the text.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from vramledger.errors import BadInput

MOST_CHARACTERS: Final = 1 << 19
_MOST_VALUES: Final = 50_000
_DEEPEST: Final = 40
_DEEPEST_BRACKETS: Final = 500
_MOST_DIGITS: Final = 400
_BRACKET: Final = re.compile(r"[\[\]{}]")
_CORE: Final = "tag:yaml.org,2002:"
_KINDS: Final[Mapping[str, frozenset[str]]] = {
    "mapping": frozenset({"map"}),
    "sequence": frozenset({"seq"}),
    "scalar": frozenset(
        {"str", "int", "float", "bool", "null", "timestamp", "merge", "value"}
    ),
}  # fmt: skip
_INT: Final = re.compile(r"[-+]?(?:0x[0-9a-fA-F_]+|0o[0-7_]+|0b[01_]+|[0-9_]+)\Z")


class NotYaml(BadInput):
    """The text is not YAML; `place` is the file with the line where reading stopped."""

    def __init__(self, place: str, problem: str) -> None:
        super().__init__(f"{place} is not YAML: {problem}; mend that line.")
        self.place = place


def compose(text: str, name: str) -> tuple[Any, ...]:
    """The root nodes of a text's documents, empty ones left out; `name` is said in messages.

    Raises:
        NotYaml: its syntax is wrong.
        BadInput: it has tags, cycles, a key that is not a scalar, or is larger than we read.
    """
    if len(text) > MOST_CHARACTERS:
        raise BadInput(
            f"{name} has {len(text):,} characters; files a person writes stay under "
            f"{MOST_CHARACTERS:,}, so give only the part that matters."
        )
    if _nests_too_deep(text):
        raise BadInput(f"{name} is nested deeper than any file a person writes.")
    roots = _parsed(text, name)
    for root in roots:
        _check(root, name)
    return roots


def line_of(node: Any) -> int:
    """The line where a node begins, counted from 1."""
    return int(node.start_mark.line) + 1


def tag_of(node: Any) -> str:
    """``str``, ``int``, ``merge``, ...: what kind of value a node is."""
    return str(node.tag).removeprefix(_CORE)


def scalar_of(node: Any, name: str) -> Any:
    """A scalar as a number, a boolean, None or text, by YAML's core rules; dates stay text.

    Raises:
        BadInput: a number that is none, or half a character.
    """
    text, tag = text_of(node, name), tag_of(node)
    try:
        if tag == "int":
            return _integer(text)
        if tag == "float":
            return _float(text)
    except ValueError:
        raise BadInput(f"{name} line {line_of(node)}: {text!r} is not a number.") from None
    if tag == "bool":
        return text.casefold() in {"true", "yes", "on", "y"}
    return None if tag == "null" else text


def text_of(node: Any, name: str) -> str:
    """A scalar as written, with escaped surrogates joined, as JSON writes what is above U+FFFF.

    Raises:
        BadInput: half a character.
    """
    text = str(node.value)
    if text.isascii():
        return text
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise BadInput(
            f"{name} line {line_of(node)} holds half a character (a lone surrogate); remove it."
        ) from None


def _nests_too_deep(text: str) -> bool:
    """Whether brackets nest deeper than is ever written; the parser would take long to find out."""
    depth = 0
    for match in _BRACKET.finditer(text):
        depth = depth + 1 if match[0] in "[{" else max(0, depth - 1)
        if depth > _DEEPEST_BRACKETS:
            return True
    return False


def _parsed(text: str, name: str) -> tuple[Any, ...]:
    import warnings

    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, ReusedAnchorWarning, YAMLError

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReusedAnchorWarning)
            nodes = list(YAML(typ="safe", pure=True).compose_all(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = name if mark is None else f"{name} line {mark.line + 1}"
        raise NotYaml(place, _one_line(error.problem or error.context)) from None
    except (YAMLError, ValueError) as error:
        raise BadInput(f"{name} is not YAML: {_one_line(error)}; mend or replace it.") from None
    except RecursionError:
        raise BadInput(f"{name} is nested deeper than any file a person writes.") from None
    return tuple(node for node in nodes if node is not None)


def _one_line(reason: object) -> str:
    return " ".join(str(reason).split()).rstrip(".")


def _check(root: Any, name: str) -> None:
    """Refuse tags, cycles, great depth and aliases that multiply, in the order of the text."""
    values = 0
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        values += 1
        if values > _MOST_VALUES:
            raise BadInput(
                f"{name} line {line_of(node)} holds more than {_MOST_VALUES:,} values, aliases "
                "written out; files a person writes hold fewer."
            )
        if depth > _DEEPEST:
            raise BadInput(
                f"{name} line {line_of(node)} is nested more than {_DEEPEST} levels deep."
            )
        _check_tag(node, name)
        if node.id == "mapping":
            for key, _ in node.value:
                _check_key(key, name)
            stack += [(value, depth + 1) for _, value in reversed(node.value)]
        elif node.id == "sequence":
            stack += [(child, depth + 1) for child in reversed(node.value)]


def _check_key(node: Any, name: str) -> None:
    if node.id != "scalar":
        raise BadInput(
            f"{name} line {line_of(node)} has a key that is not a word; name it plainly."
        )
    _check_tag(node, name)


def _check_tag(node: Any, name: str) -> None:
    if tag_of(node) not in _KINDS[node.id]:
        written = str(node.tag).replace(_CORE, "!!")
        raise BadInput(
            f"{name} line {line_of(node)} has the tag {written!r}; tags are not read, "
            "write a plain value."
        )


def _integer(text: str) -> int:
    if _INT.match(text) is None or len(text) > _MOST_DIGITS:
        raise ValueError(text)
    bare = text.replace("_", "")
    base = {"0x": 16, "0o": 8, "0b": 2}.get(bare.lstrip("+-")[:2].casefold(), 10)
    return int(bare, base)


def _float(text: str) -> float:
    bare = text.replace("_", "").casefold()
    special = {".inf": "inf", "+.inf": "inf", "-.inf": "-inf", ".nan": "nan"}
    return float(special.get(bare, bare))
