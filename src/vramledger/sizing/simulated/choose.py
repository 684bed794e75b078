"""Which candidates are played: the best of every card first, then the second best, and so on."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import TypeAlias

from vramledger.sizing.candidate import CardResult

Place: TypeAlias = tuple[int, int]  # of a card in the sizing, of a candidate within it


def by_rank(cards: Sequence[CardResult]) -> Iterator[Place]:
    """Every fitting candidate, best ones first; cards take turns in their order."""
    columns = [fitting(cards, number) for number in range(len(cards))]
    for row in zip_longest(*columns):
        yield from (place for place in row if place is not None)


def fitting(cards: Sequence[CardResult], number: int) -> list[Place]:
    """The fitting candidates of one card, best first."""
    return [
        (number, place)
        for place, candidate in enumerate(cards[number].candidates)
        if candidate.fits
    ]
