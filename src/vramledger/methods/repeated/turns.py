"""Which run comes when: one server again and again, or two of them in turn.

Two servers that are tried one after the other differ by the hour as well; in turn they share it, and a slow drift of the
machine cancels from the differences of pairs. ABBA also cancels a drift from pair to pair; drawn orders leave no pattern that
anything else could share (G. E. P. Box, J. S. Hunter and W. G. Hunter, "Statistics for Experimenters", 2nd edition, 2005,
sections 3.2 and 4.2: block what you can, randomise what you cannot).
"""

from enum import StrEnum
from random import Random

from vramledger.frozen import frozen


class Order(StrEnum):
    """The order within pairs."""

    ABAB = "abab"
    ABBA = "abba"
    DRAWN = "drawn"


class Side(StrEnum):
    """One of two servers."""

    A = "a"
    B = "b"


@frozen
class Turn:
    """One run to make: the `number`-th repetition (from 1), on a side where there are two.

    `seed` is that of its draws; both runs of a pair have the same, and so the same requests.
    """

    number: int
    side: Side | None
    seed: int

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"run-{self.number:03}" + (f"-{self.side}" if self.side is not None else "")


def turns(times: int, seed: int, order: Order | None) -> tuple[Turn, ...]:
    """The runs in their order; `order` is None for one server. The first of a longer series are those of a shorter one."""
    if order is None:
        return tuple(Turn(number, None, _seed_of(seed, number)) for number in _numbers(times))
    return tuple(
        Turn(number, side, _seed_of(seed, number))
        for number in _numbers(times)
        for side in _sides(order, number, seed)
    )


def _numbers(times: int) -> range:
    return range(1, times + 1)


def _seed_of(seed: int, number: int) -> int:
    """The first repetition has the seed that was asked for, as a single run has."""
    return seed + number - 1


def _sides(order: Order, number: int, seed: int) -> tuple[Side, Side]:
    backwards = {
        Order.ABAB: False,
        Order.ABBA: number % 2 == 0,
        Order.DRAWN: Random(f"{seed} {number}").random() < 0.5,  # noqa: S311 - an order, no secret
    }[order]
    return (Side.B, Side.A) if backwards else (Side.A, Side.B)
