"""``NAME=VALUE`` pairs as typed: prices of cards, and factors that change an assumption."""

from collections.abc import Mapping

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.hardware.catalogue import find
from vramledger.plan.price import parse_price


@frozen
class Prices:
    """Money per GPU and hour by the card's own name, all in one currency ("" where none is written)."""

    per_hour: Mapping[str, float]
    currency: str


def prices_of(texts: tuple[str, ...]) -> Prices:
    """``CARD=1.10/h`` pairs.

    Raises:
        BadInput: not such a pair, or two currencies.
        UnknownName: no such card.
    """
    found: dict[str, float] = {}
    currencies = set()
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator:
            raise BadInput(f"--price {text!r} is not CARD=PRICE; write L40S=1.10/h.")
        price = parse_price(value, f"The price of {name}")
        found[find(name.strip(), "--price").name] = price.per_hour
        currencies.add(price.currency)
    if len(currencies) > 1:
        raise BadInput("--price was given in several currencies; convert them to one.")
    return Prices(found, next(iter(currencies), ""))


def parse_factors(texts: tuple[str, ...]) -> Mapping[str, float]:
    """Read ``name=value`` pairs.

    Raises:
        BadInput: one is not such a pair.
    """
    found = {}
    for text in texts:
        name, separator, value = text.partition("=")
        try:
            found[name.strip()] = float(value)
        except ValueError:
            separator = ""
        if not separator:
            raise BadInput(f"--factor {text!r} is not NAME=NUMBER; write active-share=0.6.")
    return found
