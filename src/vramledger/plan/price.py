"""Prices as people write them: ``1.10/h``, ``USD 2.5/h``, ``€60/day``."""

import re
from math import isfinite
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen

_HOURS: Final = {"h": 1, "hour": 1, "day": 24, "month": 730, "year": 8760}
_PRICE: Final = re.compile(
    r"(?P<before>[A-Z]{3}|[$€£¥])?\s*(?P<amount>\d+(?:\.\d+)?)\s*(?P<after>[A-Z]{3}|[$€£¥])?"
    r"\s*/\s*(?P<per>h|hour|day|month|year)"
)


@frozen
class Price:
    """Money per GPU and hour; `currency` is empty where none was written."""

    per_hour: float
    currency: str


def parse_price(text: str, what: str) -> Price:
    """Read a price; a month counts 730 hours, a year 8,760. `what` names it in messages.

    Raises:
        BadInput: it is not an amount per time.
    """
    match = _PRICE.fullmatch(text.strip())
    if match is None or (match["before"] and match["after"]):
        raise BadInput(
            f"{what} is {text!r}, which is not a price per time; write it as 1.10/h or "
            "USD 800/month."
        )
    per_hour = float(match["amount"]) / _HOURS[match["per"]]
    if not isfinite(per_hour):
        raise BadInput(f"{what} is {text!r}, which is no amount of money.")
    return Price(per_hour, match["before"] or match["after"] or "")
