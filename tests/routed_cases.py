"""Loads on several engines for which the compiled engines must do exactly what the plain loops do."""

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import strategies as st

from fast_cases import COSTS, PLAIN, RICH, all_engines, counted_engines
from vramledger.frozen import frozen
from vramledger.simulate.fast.engine import FastEngine
from vramledger.simulate.fast.load import Load, load_of
from vramledger.simulate.request import Arrival
from vramledger.simulate.routing.closed_loop import ClosedLoop
from vramledger.simulate.routing.dispatch import Dispatch
from vramledger.simulate.routing.engine import Engine, PlainEngine
from vramledger.simulate.routing.least_loaded import LeastLoaded
from vramledger.simulate.routing.open_loop import send_all
from vramledger.simulate.routing.prefix_aware import PrefixAware
from vramledger.simulate.routing.round_robin import RoundRobin
from vramledger.simulate.routing.router import Router
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vramledger.simulate.fast.records import FastOutcome


@frozen
class Case:
    """Engines, their load and costs; `closed` requests in flight, or 0 for the arrivals' own times."""

    settings: Settings
    arrivals: tuple[Arrival, ...]
    cost: StepCost
    engines: int
    router: str
    closed: int
    front_ns: int
    seed: int = 0

    @property
    def load(self) -> Load:
        """The requests as rows."""
        return load_of(self.arrivals)


@frozen
class Routed:
    """Which requests each engine got, what became of them, and when they were sent in a closed loop."""

    places: "Sequence[list[int]]"
    found: "Sequence[FastOutcome]"
    sent: list[int]


EVERY = {"stale": 3_000, "fresh": 0}


def router_of(case: Case) -> Router:
    """A new router for a case."""
    if case.router == "round":
        return RoundRobin(case.engines)
    if case.router == "prefix":
        return PrefixAware(case.engines, seed=case.seed)
    return LeastLoaded(case.engines, seed=case.seed, every_ns=EVERY[case.router])


def plain_engines(case: Case, load: Load, *, stops: bool) -> "list[Engine]":
    """Plain loops."""
    return [
        PlainEngine(case.settings, load, case.cost, seed=case.seed, stops=stops)
        for _ in range(case.engines)
    ]


def fast_engines(
    case: Case, load: Load, *, stops: bool, every_block: bool = False
) -> "list[Engine]":
    """Compiled ones."""
    return [
        FastEngine(
            case.settings, load, case.cost, seed=case.seed, stops=stops, every_block=every_block
        )
        for _ in range(case.engines)
    ]


def route(case: Case, engines: "list[Engine]", load: Load) -> Routed:
    """The load through the router on these engines."""
    dispatch = Dispatch(engines, router_of(case), load, case.settings.block_size)
    sent: list[int] = []
    if case.closed:
        loop = ClosedLoop(dispatch, np.full(len(load.asked), case.front_ns), case.closed)
        loop.run(lambda _ended: None)
        sent = loop.sent_ns.tolist()
    else:
        send_all(dispatch, load.asked["arrival_ns"], lambda _ended: None)
    return Routed(dispatch.places, [one.finish() for one in engines], sent)


def same(one: Routed, other: Routed) -> None:
    """Asserts that two routed runs are the same, bit for bit."""
    assert one.places == other.places
    assert one.sent == other.sent
    for mine, theirs in zip(one.found, other.found, strict=True):
        assert mine.requests.tolist() == theirs.requests.tolist()
        assert mine.steps.tolist() == theirs.steps.tolist()
        assert mine.pauses is not None
        assert theirs.pauses is not None
        assert mine.pauses.tolist() == theirs.pauses.tolist()
        assert (mine.end_ns, mine.stuck) == (theirs.end_ns, theirs.stuck)


def _cases(
    engine: st.SearchStrategy[Settings], one: st.SearchStrategy[Arrival]
) -> st.SearchStrategy[Case]:
    return st.builds(
        Case,
        settings=engine,
        arrivals=st.lists(one, min_size=1, max_size=25).map(tuple),
        cost=COSTS,
        engines=st.integers(1, 4),
        router=st.sampled_from(("round", "stale", "fresh", "prefix")),
        closed=st.sampled_from((0, 0, 1, 3, 8, 40)),
        front_ns=st.sampled_from((0, 70)),
        seed=st.integers(0, 5),
    )


COUNTED = _cases(counted_engines(), PLAIN)
ALL = _cases(all_engines(), RICH)
