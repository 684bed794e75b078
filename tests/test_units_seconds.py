"""Seconds as people read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.units import format_seconds


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0, "0 ms"),
        (0.0123, "12.3 ms"),
        (0.99996, "1,000 ms"),
        (1.0, "1 s"),
        (4.5678, "4.568 s"),
        (12_345.6, "12,346 s"),
        (1e7, "10,000,000 s"),
        (float("inf"), "inf"),
    ],
)
def test_seconds_have_four_digits_and_no_powers_of_ten(seconds: float, said: str) -> None:
    assert format_seconds(seconds) == said


@given(st.floats(1e-6, 1e9))
def test_what_is_said_is_the_time_to_four_digits(seconds: float) -> None:
    number, unit = format_seconds(seconds).split()
    read = float(number.replace(",", "")) * {"ms": 1e-3, "s": 1.0}[unit]
    assert read == pytest.approx(seconds, rel=6e-4)
