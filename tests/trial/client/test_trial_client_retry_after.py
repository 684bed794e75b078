"""How long a server asks to stay away, in either of the forms that HTTP has."""

import pytest

from vramledger.trial.client.recorded import retry_after_s

NOW = "Wed, 21 Oct 2026 07:27:30 GMT"
LATER = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        ("7", NOW, 7.0),
        (" 120 ", "", 120.0),
        (LATER, NOW, 30.0),
        ("Wednesday, 21-Oct-26 07:28:00 GMT", "Wed Oct 21 07:27:30 2026", 30.0),
        (NOW, LATER, 0.0),  # a date that is over asks for nothing
        (LATER, "", None),  # by whose clock?
        (LATER, "today", None),
        ("2.5", NOW, None),
        ("-3", NOW, None),
        ("Wed, 99 Oct 99999 07:28:00 GMT", NOW, None),
        ("soon", NOW, None),
        (None, NOW, None),
    ],
)
def test_seconds_and_dates_are_read_and_nothing_is_guessed(
    value: str | None, date: str, seconds: float | None
) -> None:
    assert retry_after_s(value, date) == seconds
