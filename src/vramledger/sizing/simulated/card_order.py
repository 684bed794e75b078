"""The order of the cards once some were simulated: by what passed there."""

from collections.abc import Sequence

from vramledger.sizing.candidate import CardResult
from vramledger.sizing.question import Question


def in_order(cards: Sequence[CardResult], question: Question) -> list[CardResult]:
    """Cards that were seen to serve first, then those not played, then those that fail.

    Within these by the price of the best candidate where prices are given. Named cards without prices keep
    their order.
    """
    if not question.prices and not question.open_cards:
        return list(cards)
    return sorted(cards, key=_rank)


def _rank(card: CardResult) -> tuple[int, float]:
    best = card.best
    if best is None:
        return (2, 0.0)
    price = float("inf") if best.price_per_hour is None else best.price_per_hour
    return (0 if best.played else 1, price)
