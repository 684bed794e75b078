"""systemd units: ``ExecStart=`` with its ``Environment=``, and Quadlet ``.container`` units."""

import re
from collections.abc import Iterator
from typing import Final

from vramledger.engine.container import Container
from vramledger.engine.invocation import find_invocations, in_container
from vramledger.engine.launch import Argument
from vramledger.engine.manifests.found import Found
from vramledger.engine.shell import Command, assignments, read_commands
from vramledger.frozen import frozen

_EXEC_PREFIX: Final = re.compile(r"\A[-@:+!|]+")
_SPECIFIER: Final = re.compile(r"(?<!%)%[A-Za-z]")


@frozen
class _Line:
    """One setting of a unit."""

    section: str
    key: str
    value: str


def read(text: str, where: str) -> tuple[Found, ...]:
    """Engine starts of a unit.

    Raises:
        BadInput: a quote is not closed.
    """
    lines = list(_lines(text))
    environment: dict[str, str] = {}
    for line in lines:
        if line.key == "Environment":
            words = [w for c in _words(line.value, where, {}) for w in c]
            environment |= assignments(words)
    found: list[Found] = []
    for line in lines:
        if line.section == "Service" and line.key == "ExecStart" and line.value:
            found += _service(line.value, where, environment)
    if any(line.section == "Container" for line in lines):
        found += _quadlet(lines, where, environment)
    return tuple(found)


def _lines(text: str) -> Iterator[_Line]:
    """Settings with continuations joined, comments dropped."""
    section = ""
    joined = re.sub(r"\\[ \t]*\r?\n(?:[ \t]*[#;][^\n]*\n)*", " ", text)
    for raw in joined.splitlines():
        line = raw.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
            continue
        key, mark, value = line.partition("=")
        if mark:
            yield _Line(section, key.strip(), value.strip())


def _words(text: str, where: str, variables: dict[str, str]) -> list[list[Argument]]:
    """Words of a unit's value; assignments at the front are words too."""
    commands = read_commands("true " + text, where, variables)
    return [list(command.words[1:]) for command in commands]


def _service(value: str, where: str, environment: dict[str, str]) -> list[Found]:
    text = _EXEC_PREFIX.sub("", value).replace("%%", "%")
    words = [word for part in _words(text, where, environment) for word in part]
    command = Command(tuple(_with_specifiers(word) for word in words), environment)
    place = f"{where}, ExecStart"
    return [Found("ExecStart", item, place) for item in find_invocations((command,), place)]


def _with_specifiers(word: Argument) -> Argument:
    """``%i`` and its like are unknown here."""
    found = _SPECIFIER.findall(word.text)
    return Argument(word.text, (*word.unknown, *found)) if found else word


def _quadlet(lines: list[_Line], where: str, environment: dict[str, str]) -> list[Found]:
    """Podman's container units: ``Image=`` and ``Exec=``."""
    values = {line.key: line.value for line in lines if line.section == "Container"}
    words = [w for part in _words(values.get("Exec", ""), where, environment) for w in part]
    container = Container(
        values.get("Image", ""),
        tuple(_with_specifiers(word) for word in words),
        environment,
        values.get("Entrypoint"),
        None,
    )
    place = f"{where}, Container"
    return [Found("Container", item, place) for item in in_container(container, {}, place)]
