"""What compose files and pods share: words, variables and environments of a container."""

import re
from collections.abc import Mapping
from typing import Final

from vramledger.engine.launch import Argument
from vramledger.engine.manifests.document import Node

_COMPOSE: Final = re.compile(
    r"\$(?:(?P<escaped>\$)|\{(?P<braced>\w+)(?:(?P<mark>:?[-?+])(?P<default>[^}]*))?\}|(?P<bare>\w+))"
)
_POD: Final = re.compile(r"\$(?:(?P<escaped>\$)|\((?P<braced>[\w.-]+)\))")


def interpolate(text: str) -> Argument:
    """A compose string: ``$NAME`` and ``${NAME:-default}``; what has no default stays unknown."""
    unknown: list[str] = []

    def value(match: re.Match[str]) -> str:
        if match["escaped"]:
            return "$"
        if match["default"] is not None and match["mark"] in ("-", ":-"):
            return match["default"]
        unknown.append(match[0])
        return match[0]

    return Argument(_COMPOSE.sub(value, text), tuple(unknown))


def pod_word(text: str, environment: Mapping[str, str]) -> Argument:
    """A pod's word: ``$(NAME)`` takes the value its ``env`` gives."""
    unknown: list[str] = []

    def value(match: re.Match[str]) -> str:
        if match["escaped"]:
            return "$"
        known = environment.get(match["braced"])
        if known is None:
            unknown.append(match[0])
            return match[0]
        return known

    return Argument(_POD.sub(value, text), tuple(unknown))


def texts(node: Node | None) -> list[str]:
    """The strings of a list; a single value is a list of one."""
    if node is None:
        return []
    return [item.text() for item in node.items()] if node.is_list else [node.text()]
