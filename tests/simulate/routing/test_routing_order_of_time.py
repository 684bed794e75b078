"""An engine may halt at any time; several keep one order of time."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st

from fast_cases import ALL as ALONE
from fast_cases import Case as Alone
from fast_cases import by_loop
from routed_cases import ALL, Case, fast_engines, plain_engines, route, router_of, same
from simulated import arrival, settings
from vramledger.simulate.engine_loop import EngineLoop
from vramledger.simulate.fast.load import load_of
from vramledger.simulate.fast.records import ENDINGS
from vramledger.simulate.outcome import Ending, Outcome
from vramledger.simulate.routing.dispatch import Dispatch
from vramledger.simulate.routing.timeline import Timeline
from vramledger.simulate.scheduler import Scheduler
from vramledger.simulate.step_cost import StepCost, fixed

if TYPE_CHECKING:
    from vramledger.simulate.routing.engine import Engine

COST = StepCost(constant=fixed(10e6))


def _in_pieces(case: Alone, halts: list[int]) -> Outcome:
    """The case with its engine halted now and then, and told of requests only when they arrive."""
    engine = EngineLoop(Scheduler(case.settings, seed=case.seed), case.cost)
    waiting = sorted(case.arrivals, key=lambda one: one.arrival_ns)
    for until in sorted(halts):
        while waiting and waiting[0].arrival_ns <= until:
            engine.advance(waiting[0].arrival_ns)
            engine.send(waiting.pop(0))
        engine.advance(until)
    for one in waiting:
        engine.send(one)
    return engine.finish()


@tries(max_examples=200)
@given(ALONE, st.lists(st.integers(0, 40_000), max_size=12))
def test_an_engine_that_halts_now_and_then_does_what_it_would_have_done(
    case: Alone, halts: list[int]
) -> None:
    assert _in_pieces(case, halts) == by_loop(case)


class _Watches:
    """Looks at who went on."""

    def __init__(self, engines: "list[Engine]") -> None:
        self.engines = engines
        self.times: list[int] = []

    def went_on(self, number: int) -> None:
        assert self.engines[number].now >= 0
        self.times.append(self.engines[number].now)


@tries(max_examples=200)
@given(ALL.filter(lambda case: not case.closed))
def test_engines_in_one_order_of_time_do_what_they_do_when_only_asked_for_their_loads(
    case: Case,
) -> None:
    load = case.load
    engines: list[Engine] = plain_engines(case, load, stops=True)
    dispatch = Dispatch(engines, router_of(case), load, case.settings.block_size)
    timeline = Timeline(engines, (dispatch.board,))
    for place, asked in enumerate(load.asked):
        timeline.expect(int(asked["arrival_ns"]), partial(dispatch.send, place))
    watches = _Watches(engines)
    timeline.run(watches)
    lazily = route(case, plain_engines(case, load, stops=False), load)

    assert dispatch.places == lazily.places
    for mine, theirs in zip((one.finish() for one in engines), lazily.found, strict=True):
        assert mine.requests.tolist() == theirs.requests.tolist()
        assert mine.steps.tolist() == theirs.steps.tolist()


def closed_case(count: int, **changed: object) -> Case:
    values: dict[str, object] = {
        "settings": settings(num_blocks=400, async_scheduling=True),
        "arrivals": tuple(arrival(5 + n % 9, 3 + n % 7, at_ms=1000 * n) for n in range(count)),
        "cost": COST,
        "engines": 1,
        "router": "round",
        "closed": 3,
        "front_ns": 0,
    }
    return Case(**(values | changed))  # type: ignore[arg-type]


@pytest.mark.parametrize("engines", [1, 3])
@pytest.mark.parametrize("router", ["round", "fresh", "prefix"])
def test_a_closed_loop_keeps_as_many_in_flight_as_it_was_asked_to(
    engines: int, router: str
) -> None:
    case = closed_case(40, engines=engines, router=router)
    routed = route(case, fast_engines(case, case.load, stops=True), case.load)
    sent = np.array(routed.sent)
    ended = np.zeros(40, np.int64)
    for places, found in zip(routed.places, routed.found, strict=True):
        ended[places] = found.requests["last_token_ns"]
        assert (found.requests["ending"] == ENDINGS.index(Ending.OK)).all()
    flying = [int(((sent <= now) & (ended > now)).sum()) for now in sent[3:]]
    assert (sent[:3] == 0).all()
    assert set(flying) == {3}
    assert set(sent[3:].tolist()) <= set(ended.tolist())  # the instant one ends


def test_a_closed_loop_ignores_the_times_of_arrival_and_adds_the_way_to_the_engine() -> None:
    case = closed_case(2, closed=1, front_ns=4_000_000)
    routed = route(case, plain_engines(case, case.load, stops=True), case.load)
    (found,) = routed.found
    assert routed.sent == [0, int(found.requests["last_token_ns"][0])]
    assert found.requests["queued_ns"].tolist() == [4_000_000, routed.sent[1] + 4_000_000]


def test_what_a_stuck_engine_holds_back_is_told_of_as_incomplete() -> None:
    wide = settings(num_blocks=5, max_model_len=200)
    case = closed_case(
        6, settings=wide, arrivals=tuple(arrival(100, 3) for _ in range(6)), closed=2
    )
    for engines in (plain_engines, fast_engines):
        routed = route(case, engines(case, case.load, stops=True), case.load)
        (found,) = routed.found
        assert len(found.requests) == 6
        assert (found.requests["ending"] == ENDINGS.index(Ending.INCOMPLETE)).all()
        assert found.stuck.startswith("Request 0 with 100 tokens needs 25 KV blocks and the pool")


def test_who_goes_away_makes_room_for_the_next() -> None:
    leaves = tuple(arrival(8, 50, cancel_after_ns=30_000_000) for _ in range(4))
    case = closed_case(4, arrivals=leaves, closed=1)
    same(
        route(case, plain_engines(case, case.load, stops=True), case.load),
        route(case, fast_engines(case, case.load, stops=True), case.load),
    )
    routed = route(case, plain_engines(case, case.load, stops=True), case.load)
    assert routed.sent == [0, 30_000_000, 60_000_000, 90_000_000]


def test_a_request_that_went_away_is_not_named_for_being_stuck() -> None:
    outgrowing = arrival(8, 40, cancel_after_ns=900_000_000)
    arrivals = (outgrowing, arrival(60, 2, at_ms=1))
    small = settings(num_blocks=9, max_model_len=100)
    case = Alone(small, arrivals, COST)
    outcome = by_loop(case)
    engine = fast_engines(
        closed_case(2, settings=small, arrivals=arrivals), load_of(arrivals), stops=False
    )[0]
    for place, one in enumerate(arrivals):
        engine.send(
            place, one.arrival_ns, -1 if one.cancel_after_ns is None else one.cancel_after_ns
        )

    assert outcome.requests[0].ending is Ending.CANCELLED
    assert outcome.stuck.startswith("Request 1 with 60 tokens needs 15 KV blocks")
    assert engine.finish().stuck == outcome.stuck
