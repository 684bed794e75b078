"""What an HTTP status says of how a request ended."""

import pytest

from vramledger.record.outcome import Outcome, of_status


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (0, Outcome.INCOMPLETE),
        (101, Outcome.UNKNOWN),
        (200, Outcome.OK),
        (204, Outcome.OK),
        (307, Outcome.REJECTED),
        (400, Outcome.REJECTED),
        (408, Outcome.TIMED_OUT),
        (429, Outcome.REJECTED),
        (499, Outcome.CANCELLED),
        (500, Outcome.FAILED),
        (502, Outcome.FAILED),
        (503, Outcome.REJECTED),
        (504, Outcome.TIMED_OUT),
    ],
)
def test_a_status_tells_how_a_request_ended(status: int, outcome: Outcome) -> None:
    assert of_status(status) is outcome
