"""From the words of a command to the engine it starts: wrappers, shells, containers peeled off."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Final

from vramledger.engine.container import Container, read_container
from vramledger.engine.launch import Argument, opening
from vramledger.engine.programs import (
    PROGRAMS,
    Program,
    by_image,
    by_module,
    by_script,
    vllm_version_of,
)
from vramledger.engine.shell import Command, assignments, leading_assignments, read_commands
from vramledger.engine.wrappers import program_name, unwrap
from vramledger.errors import BadInput
from vramledger.frozen import frozen

_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "ash"})
_PYTHON_VALUED: Final = frozenset({"-X", "-W", "--check-hash-based-pycs"})
_COMMAND_MODULES: Final = frozenset({"vllm", "vllm.entrypoints.cli.main"})
_DEEPEST: Final = 8


@frozen
class Invocation:
    """An engine about to start: its arguments, environment and where they came from."""

    program: Program
    arguments: tuple[Argument, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    image: str | None = None
    version: str | None = None
    gpus: int | None = None


def find_invocations(commands: Sequence[Command], where: str) -> tuple[Invocation, ...]:
    """Every engine start among the commands of a text."""
    found: list[Invocation] = []
    for command in commands:
        found += invocations_of(command.words, dict(command.environment), where)
    return tuple(found)


def invocations_of(
    words: Sequence[Argument], environment: dict[str, str], where: str, depth: int = 0
) -> list[Invocation]:
    """Engine starts inside one command; empty when it starts none.

    Raises:
        BadInput: commands are nested deeper than anyone means, or a container has no image.
    """
    if depth > _DEEPEST:
        raise BadInput(f"{opening(where)} nests commands too deeply to be a launch command.")
    count = leading_assignments(tuple(words))
    environment = {**environment, **assignments(tuple(words[:count]))}
    words = words[count:]
    if not words:
        return []
    container = read_container(words, where)
    if container is not None:
        return in_container(container, environment, where, depth + 1)
    inner = unwrap(words)
    if inner is not None:
        return invocations_of(inner, environment, where, depth + 1)
    if program_name(words[0]) in _SHELLS:
        return _in_shell(words, environment, where, depth + 1)
    found = _match(words)
    return [Invocation(found.program, tuple(found.arguments), environment)] if found else []


def in_container(
    container: Container, environment: dict[str, str], where: str, depth: int = 0
) -> list[Invocation]:
    """Engine starts inside a container: its own command, or the image's entry point."""
    inside = {**environment, **container.environment}
    words = list(container.words)
    if container.entrypoint:
        words = [*_words_of(container.entrypoint), *words]
    found = invocations_of(words, inside, where, depth + 1)
    program = by_image(container.image)
    if not found and program is not None and program.image_entry and _bare(container, words):
        found = [_at_entry(program, words, inside)]
    version = vllm_version_of(container.image)
    return [
        Invocation(
            item.program, item.arguments, item.environment, container.image, version, container.gpus
        )
        for item in found
    ]


def _at_entry(program: Program, words: list[Argument], environment: dict[str, str]) -> Invocation:
    """The image's own program with the words behind it; they may begin with a subcommand."""
    named = [Argument(program.commands[0][0]), *words]
    found = _match(named)
    return Invocation(program, tuple(found.arguments if found else words), environment)


def _bare(container: Container, words: list[Argument]) -> bool:
    """Whether the words are arguments for the image's own entry point."""
    return not container.entrypoint and (not words or not _looks_like_program(words[0].text))


def _looks_like_program(text: str) -> bool:
    return program_name(Argument(text)) in (*_SHELLS, "python", "python3", "tail", "sleep", "vllm")


def _words_of(entrypoint: str) -> list[Argument]:
    commands = read_commands(entrypoint, "the entrypoint")
    return list(commands[0].words) if commands else []


def _in_shell(
    words: Sequence[Argument], environment: dict[str, str], where: str, depth: int
) -> list[Invocation]:
    """``bash -c "..."``: the script is read in its turn."""
    for index, word in enumerate(words[1:], start=1):
        if word.text.startswith("-") and "c" in word.text and not word.text.startswith("--"):
            if index + 1 >= len(words):
                return []
            script = read_commands(words[index + 1].text, where, environment)
            found: list[Invocation] = []
            for command in script:
                merged = {**environment, **command.environment}
                found += invocations_of(command.words, merged, where, depth + 1)
            return found
        if not word.text.startswith("-"):
            break
    return []


@frozen
class _Match:
    """An engine's program and the words behind it."""

    program: Program
    arguments: Sequence[Argument]


def _match(words: Sequence[Argument]) -> _Match | None:
    """The engine the words start, None when they start none."""
    name = program_name(words[0])
    if name.startswith("python") or name == "torchrun":
        return _match_python(words[1:])
    for program in PROGRAMS:
        for command in program.commands:
            given = (name, *(word.text for word in words[1 : len(command)]))
            if given == command:
                return _Match(program, words[len(command) :])
    return _matched(by_script(words[0].text), words[1:])


def _matched(program: Program | None, arguments: Sequence[Argument]) -> _Match | None:
    return _Match(program, arguments) if program else None


def _match_python(words: Sequence[Argument]) -> _Match | None:
    index = 0
    while index < len(words) and words[index].text.startswith("-"):
        option = words[index].text
        if option == "-m":
            module = words[index + 1].text if index + 1 < len(words) else ""
            rest = words[index + 2 :]
            if module in _COMMAND_MODULES and rest:
                return _match([Argument("vllm"), *rest])
            return _matched(by_module(module), rest)
        index += 2 if option in _PYTHON_VALUED else 1
    if index >= len(words):
        return None
    return _matched(by_script(words[index].text), words[index + 1 :])
