"""Which models think before they answer, by their names: the table `thinking.toml`."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Final

from vramledger.frozen import frozen

_TABLE: Final = Path(__file__).with_name("thinking.toml")


@frozen
class Thinking:
    """A family of models that think unless they are told not to."""

    title: str
    name: str  # regular expression over the name without organisation, lower case, from its start
    source: str
    off: str = ""  # how a request switches it off; "" where it cannot or that is not known
    always: bool = False


def thinking_of(model_id: str) -> Thinking | None:
    """The family of a model that thinks by default; None for others and for names not known."""
    name = model_id.casefold().removeprefix("hf:").rstrip("/").rpartition("/")[2]
    return next((family for family in families() if re.match(family.name, name)), None)


@cache
def families() -> tuple[Thinking, ...]:
    """Every row of the table, in its order."""
    with _TABLE.open("rb") as stream:
        return tuple(Thinking(**row) for row in tomllib.load(stream)["family"])
