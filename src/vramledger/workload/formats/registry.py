"""Which formats there are. The order is that of recognition: the more particular come first."""

from functools import cache
from importlib import import_module
from typing import Final

from vramledger.errors import UnknownName
from vramledger.workload.formats.format import LogFormat

NAMES: Final = ("azure_llm",)


@cache
def formats() -> tuple[LogFormat, ...]:
    """Every format, in the order of recognition."""
    return tuple(import_module(f"{__package__}.{name}").FORMAT for name in NAMES)


def format_named(name: str) -> LogFormat:
    """The format of that name.

    Raises:
        UnknownName: none has it.
    """
    known = {each.name: each for each in formats()}
    if name not in known:
        raise UnknownName("log format", name, (*known, "auto"), "--format")
    return known[name]
