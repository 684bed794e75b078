from dataclasses import replace

import pytest

from vramledger.calibrate.observed import (
    ABSENT,
    Stamps,
    observed_of,
    third_of_requests,
    third_of_time,
)
from vramledger.errors import BadInput

_FIRST = Stamps(1000.0, 5.2, 5.5, 7.0, 100, 20)
_SECOND = Stamps(1001.0, 6.0, 6.5, 9.0, 100, 20)


def test_the_engines_clock_is_set_by_the_request_it_took_in_soonest() -> None:
    found = observed_of([_SECOND, _FIRST])
    assert found.arrival_ns.tolist() == [0, 1_000_000_000]
    assert found.queued_ns.tolist() == [200_000_000, 1_000_000_000]
    assert found.first_token_ns.tolist() == [500_000_000, 1_500_000_000]
    assert found.end_ns == 4_000_000_000


def test_what_a_request_did_not_reach_is_absent() -> None:
    found = observed_of([_FIRST, replace(_SECOND, last_token_s=None)])
    assert found.last_token_ns.tolist() == [2_000_000_000, ABSENT]
    assert found.finished_by(3_000_000_000).tolist() == [True, False]


def test_thirds_end_with_the_time_or_with_the_requests() -> None:
    stamps = [replace(_FIRST, last_token_s=6.0 + number) for number in range(9)]
    found = observed_of(stamps)
    assert third_of_time(found) == found.end_ns // 3
    assert found.finished_by(third_of_requests(found)).sum() == 3


_NOBODY = (
    "The run holds no request that the engine took in, so there is nothing to calibrate on; give a run "
    "with stamps of its engine."
)
_NO_ANSWER = (
    "Request 1 by arrival has 100 input and 0 output tokens, but a request that was served has at least "
    "one of each; leave out those that were not."
)
_BACK = (
    "The stamps of request 0 by arrival go back in time; a request is queued and gets its first and its "
    "last token in this order."
)


@pytest.mark.parametrize(
    ("stamps", "said"),
    [
        ([replace(_FIRST, queued_s=None, first_token_s=None, last_token_s=None)], _NOBODY),
        ([_FIRST, replace(_SECOND, output_tokens=0)], _NO_ANSWER),
        ([replace(_FIRST, last_token_s=5.4)], _BACK),
        ([replace(_FIRST, first_token_s=None)], _BACK),
    ],
)
def test_runs_that_mean_nothing_are_refused(stamps: list[Stamps], said: str) -> None:
    with pytest.raises(BadInput) as refused:
        observed_of(stamps)
    assert str(refused.value) == said
