"""One thing that was looked at, and what was found."""

from enum import StrEnum

from vramledger.frozen import frozen


class Standing(StrEnum):
    """How a check went."""

    HOLDS = "holds"
    FAILS = "fails"
    OPEN = "not checked"


@frozen
class Check:
    """A check by name; `said` is one finished sentence."""

    name: str
    standing: Standing
    said: str


def holds(name: str, said: str) -> Check:
    """It was looked at, and it is as stated."""
    return Check(name, Standing.HOLDS, said)


def fails(name: str, said: str) -> Check:
    """It is not as stated."""
    return Check(name, Standing.FAILS, said)


def unchecked(name: str, said: str) -> Check:
    """It could not be looked at."""
    return Check(name, Standing.OPEN, said)
