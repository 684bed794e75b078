"""Engines that requests are sent to while they are under way: compiled ones do what plain ones do."""

import pytest
from hypothesis import given
from hypothesis import settings as tries

from routed_cases import ALL, COUNTED, Case, fast_engines, plain_engines, route, same
from simulated import settings
from vramledger.simulate.request import Arrival
from vramledger.simulate.step_cost import StepCost, fixed


@tries(max_examples=300)
@given(COUNTED)
def test_routed_engines_that_count_blocks_do_what_the_loops_do(case: Case) -> None:
    load = case.load
    stops = case.closed > 0
    same(
        route(case, fast_engines(case, load, stops=stops), load),
        route(case, plain_engines(case, load, stops=stops), load),
    )


@tries(max_examples=300)
@given(ALL)
def test_routed_engines_that_follow_blocks_do_what_the_loops_do(case: Case) -> None:
    load = case.load
    stops = case.closed > 0
    same(
        route(case, fast_engines(case, load, stops=stops, every_block=True), load),
        route(case, plain_engines(case, load, stops=stops), load),
    )


@pytest.mark.parametrize(
    ("short", "every_block"),
    [
        (Arrival(0, 200, 1), False),  # refused
        (Arrival(0, 200, 1), True),
        (Arrival(0, 8, 4, cancel_after_ns=0), True),
    ],
)
def test_a_request_that_ends_as_it_is_taken_in_halts_an_engine_of_steady_decodes(
    short: Arrival, *, every_block: bool
) -> None:
    """In a closed loop the next request comes at that instant, and has a part in the step after."""
    arrivals = (Arrival(0, 8, 2), Arrival(0, 8, 90), Arrival(0, 8, 90), short, Arrival(0, 8, 20))
    cost = StepCost(constant=fixed(1000))
    case = Case(settings(), arrivals, cost, engines=1, router="round", closed=3, front_ns=0)
    plain = route(case, plain_engines(case, case.load, stops=True), case.load)
    fast = fast_engines(case, case.load, stops=True, every_block=every_block)
    same(route(case, fast, case.load), plain)
    (found,) = plain.found
    assert found.requests["first_token_step"][4] < 10
