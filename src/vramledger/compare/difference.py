"""One thing that two sides tell differently, or that one of them alone tells."""

from enum import StrEnum
from typing import Any

from vramledger.frozen import frozen


class Kind(StrEnum):
    """What a difference is to an effect."""

    CHANGE = "change"  # a cause that an effect may have
    FOLLOWS = "follows"  # what a change brings with it
    UNKNOWN = "unknown"  # told by one side alone
    CONDITION = "condition"  # may be a change and may be none
    ASIDE = "aside"  # no cause: a result, or a circumstance


@frozen
class Difference:
    """`a` and `b` are the values, None where a side tells none; `why` is a clause on its kind, empty for a plain change."""

    name: str
    title: str
    a: Any
    b: Any
    kind: Kind
    why: str = ""
