"""All kinds of cases by name: the sixteen that the comparison is held to, and what goes beyond them."""

from collections.abc import Callable
from functools import partial
from typing import Any

from oracle.cases import KINDS, random_case
from oracle.further import FURTHER, further_case

Maker = Callable[[int], dict[str, Any]]


def makers() -> list[tuple[str, Maker]]:
    """The name of each kind and what makes its cases from their numbers."""
    kinds: list[tuple[str, Maker]] = [(str(kind), partial(random_case, kind)) for kind in KINDS]
    return [*kinds, *((what, partial(further_case, what)) for what in FURTHER)]
