"""A launch command as read, before any default: the same object for every way people write it."""

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from typing import Final

from vramledger.frozen import frozen

COMMAND: Final = "the launch command"
HIDDEN: Final = "***"  # stands for a credential's value


class Usage(StrEnum):
    """How the engine is used; defaults differ."""

    SERVE = "serve"  # an API server
    OFFLINE = "offline"  # the Python class, batch work


@frozen
class Argument:
    """One word after the program's name; `unknown` names variables whose value is not given."""

    text: str
    unknown: tuple[str, ...] = ()


@frozen
class Flag:
    """One argument as written. `value` is None for a switch."""

    name: str  # canonical: long form, dashes, no leading dashes ("tensor-parallel-size")
    value: str | None
    written: str  # as the person wrote it, for messages
    values: tuple[str, ...] = ()  # every value, where the flag takes several
    unknown: tuple[str, ...] = ()  # variables in the value whose own value is not given
    refused: str = ""  # why this version does not accept the flag; empty when it does


@frozen
class Launch:
    """What a launch command, compose file, manifest or unit says."""

    engine: str  # "vllm", "sglang", ...
    model: str | None
    flags: tuple[Flag, ...] = ()
    version: str | None = None  # from an image tag or the option, as written
    usage: Usage = Usage.SERVE
    environment: Mapping[str, str] = field(default_factory=dict)
    where: str = COMMAND  # file and key for messages
    image: str | None = None
    arguments: tuple[Argument, ...] = ()  # the words `flags` were read from
    notes: tuple[str, ...] = ()  # what was repaired or assumed in reading, one sentence each
    gpus: int | None = None  # GPUs the surroundings grant, where they say so

    def flag(self, name: str) -> Flag | None:
        """The last flag of that canonical name, as argument parsers decide."""
        found = [flag for flag in self.flags if flag.name == name]
        return found[-1] if found else None


def remedy_for_unknown(where: str) -> str:
    """What to do about a variable whose value is not given there."""
    if where.startswith(COMMAND):
        return "write the value out, or set the variable in front of the command"
    return "write the value out there"


def opening(where: str) -> str:
    """`where` as the first words of a sentence; a file's name keeps its case."""
    return "The" + where[3:] if where.startswith(COMMAND) else where
