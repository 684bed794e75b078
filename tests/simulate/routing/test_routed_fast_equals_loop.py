"""Engines that requests are sent to while they are under way: compiled ones do what plain ones do."""

from hypothesis import given
from hypothesis import settings as tries

from routed_cases import ALL, COUNTED, Case, fast_engines, plain_engines, route, same


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
