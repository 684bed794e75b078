"""The compiled simulator against the plain loop on ten thousand cases of each kind."""

import pytest
from hypothesis import HealthCheck, given, settings

from fast_cases import (
    ALL,
    ALWAYS_CAPPED,
    COUNTED,
    STATES,
    Case,
    by_fast,
    by_loop,
    outcome_or_sentence,
)

pytestmark = pytest.mark.fuzz
_LONG = settings(max_examples=10_000, suppress_health_check=list(HealthCheck))


@_LONG
@given(COUNTED)
def test_ten_thousand_engines_that_count_blocks_do_what_the_loop_does(case: Case) -> None:
    assert by_fast(case) == by_loop(case)


@_LONG
@given(ALL)
def test_ten_thousand_engines_of_every_kind_do_what_the_loop_does(case: Case) -> None:
    assert by_fast(case, every_block=True) == by_loop(case)


@_LONG
@given(STATES)
def test_ten_thousand_engines_with_recurrent_states_do_what_the_loop_does(case: Case) -> None:
    assert by_fast(case) == by_loop(case)


@_LONG
@given(ALWAYS_CAPPED)
def test_ten_thousand_engines_of_vllm_020_do_what_the_loop_does(case: Case) -> None:
    assert outcome_or_sentence(by_fast, case) == outcome_or_sentence(by_loop, case)
