"""Prices are amounts per time, in one currency."""

import pytest

from vramledger.errors import BadInput
from vramledger.plan.price import parse_price


@pytest.mark.parametrize(
    ("written", "per_hour", "currency"),
    [
        ("1.10/h", 1.10, ""),
        ("2 / hour", 2.0, ""),
        ("USD 730/month", 1.0, "USD"),
        ("€24/day", 1.0, "€"),
        ("3.5 EUR/h", 3.5, "EUR"),
        ("¥8760/year", 1.0, "¥"),
    ],
)
def test_usual_spellings_are_read(written: str, per_hour: float, currency: str) -> None:
    price = parse_price(written, "prices.L4")
    assert price.per_hour == pytest.approx(per_hour)
    assert price.currency == currency


@pytest.mark.parametrize(
    "written", ["", "1.10", "free", "-1/h", "1,10/h", "USD 1 EUR/h", "1e9/h", "nan/h", "1/week"]
)
def test_what_is_no_price_per_time_is_refused(written: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_price(written, "prices.L4")
    assert str(caught.value) == (
        f"prices.L4 is {written!r}, which is not a price per time; write it as 1.10/h or "
        "USD 800/month."
    )
