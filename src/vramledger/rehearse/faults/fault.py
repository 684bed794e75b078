"""What a fault may do, and how its option is written."""

import re
from abc import ABC, abstractmethod
from math import inf, isfinite
from random import Random
from typing import ClassVar, Final, Self

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.rehearse.api.refusal import Refusal
from vramledger.rehearse.http.sink import Sink

_TIME: Final = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)(ms|s|m)\Z", re.ASCII)
_UNITS: Final = {"ms": 1e-3, "s": 1.0, "m": 60.0}
_WORDS: Final = {  # of a form: what is written there
    "SHARE": "SHARE is from 0 to 1",
    "TIME": "TIME is such as 500ms, 5s or 2m",
    "COUNT": "COUNT is 1 or more",
}


@frozen
class Style:
    """How streams are written."""

    role_early: bool = False  # the role chunk right after the head instead of with the first token
    tokens_per_chunk: int = 1
    usage: bool = True  # whether it is told where it is asked for


@frozen
class Outage:
    """When the server dies, in seconds after it began to serve, and for how long it is away."""

    at_s: float
    lasts_s: float


class Fault(ABC):
    """A kind of fault; each does one of these things, the others are left as they are.

    `draw` is seeded for the request and the kind. Faults compare by what they were made with.
    """

    form: ClassVar[str]  # how the option is written

    @classmethod
    @abstractmethod
    def of(cls, argument: str) -> Self:
        """The fault with what stands behind its name.

        Raises:
            BadInput: that means nothing.
        """

    def refusal(self, draw: Random) -> Refusal | None:
        """What is answered instead of anything else."""
        del draw
        return None

    def styled(self, style: Style) -> Style:
        """How streams are written."""
        return style

    def in_front(self, sink: Sink, draw: Random, tokens: int) -> Sink:
        """Where an answer of so many tokens is written instead."""
        del draw, tokens
        return sink

    @property
    def outage(self) -> Outage | None:
        """When the server dies."""
        return None

    @property
    def metrics_until_s(self) -> float:
        """For how long there is a metrics page, in seconds after it began to serve."""
        return inf


class Without(Fault):
    """A kind that takes nothing behind its name."""

    @classmethod
    def of(cls, argument: str) -> Self:
        """The fault itself."""
        if argument:
            raise wrong(cls, argument)
        return cls()


class Chance(Fault):
    """A kind that befalls a share of the requests."""

    def __init__(self, share: float) -> None:
        self.share = share

    @classmethod
    def of(cls, argument: str) -> Self:
        """With its share."""
        return cls(share_of(cls, argument))

    def befalls(self, draw: Random) -> bool:
        """Whether this request has it."""
        return draw.random() < self.share


def share_of(kind: type[Fault], text: str) -> float:
    """A share from 0 to 1.

    Raises:
        BadInput: it is none.
    """
    try:
        share = float(text)
    except ValueError:
        raise wrong(kind, text) from None
    if not (isfinite(share) and 0 <= share <= 1):
        raise wrong(kind, text)
    return share


def seconds_of(kind: type[Fault], text: str) -> float:
    """A time in ms, s or m.

    Raises:
        BadInput: it is none.
    """
    found = _TIME.match(text)
    if found is None:
        raise wrong(kind, text)
    return float(found[1]) * _UNITS[found[2]]


def wrong(kind: type[Fault], text: str) -> BadInput:
    """The sentence about an option that means nothing."""
    given = f"{text!r} means nothing there" if text else "something is missing"
    words = "".join(f"; {said}" for name, said in _WORDS.items() if name in kind.form)
    return BadInput(f"A fault is written as --fault {kind.form}, and {given}{words}.")
