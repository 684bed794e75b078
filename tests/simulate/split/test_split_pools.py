"""Prompts on some servers, answers on others: what must hold, and when it comes to the same as one server."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st

from fast_cases import COSTS, RICH, counted_engines
from simulated import arrival, settings
from vramledger.errors import BadInput, CannotKnow
from vramledger.frozen import frozen
from vramledger.simulate.fast.load import Load, load_of
from vramledger.simulate.fast.records import ENDINGS, UNSET
from vramledger.simulate.groups import FullAttention, SlidingWindow
from vramledger.simulate.loop import simulate
from vramledger.simulate.outcome import Ending
from vramledger.simulate.request import Arrival
from vramledger.simulate.routing.clocks import Clocks
from vramledger.simulate.settings import Settings
from vramledger.simulate.split.link import Link, Ports
from vramledger.simulate.split.run import Split, SplitRun, run_split
from vramledger.simulate.step import Features
from vramledger.simulate.step_cost import StepCost, fixed

COST = StepCost(constant=fixed(10e6), prefill_tokens=fixed(1e5), decode_context=fixed(1e3))
INSTANT = Link(1e30)
OK = ENDINGS.index(Ending.OK)


def split_run(
    engine: Settings,
    load: Load,
    cost: StepCost = COST,
    *,
    link: Link = INSTANT,
    prefill: int = 1,
    decode: int = 1,
    closed: int | None = None,
    router: str = "round-robin",
) -> SplitRun:
    clocks = Clocks(load.asked["arrival_ns"], np.zeros(len(load.asked), np.int64), closed)
    return run_split(
        engine, load, cost, Split(prefill, link, 1000), decode, clocks,
        router=router, seed=0, told=lambda _ended: None,
    )  # fmt: skip


def rows(run: SplitRun, name: str) -> list[int]:
    """A column of all requests, by place."""
    pairs = [
        (int(place), int(value))
        for share in run.shares
        for place, value in zip(share.places, share.found.requests[name], strict=True)
    ]
    return [value for _, value in sorted(pairs)]


@frozen
class Case:
    """Pools of servers and their load."""

    engine: Settings
    arrivals: tuple[Arrival, ...]
    cost: StepCost
    link: Link
    prefill: int
    decode: int
    closed: int | None
    router: str


CASES = st.builds(
    Case,
    engine=st.builds(
        lambda one, caching: replace(one, prefix_caching=caching), counted_engines(), st.booleans()
    ),
    arrivals=st.lists(RICH, min_size=1, max_size=20).map(tuple),
    cost=COSTS,
    link=st.sampled_from((INSTANT, Link(1e9), Link(1e8, 50), Link(2e10, 3_000))),
    prefill=st.integers(1, 3),
    decode=st.integers(1, 3),
    closed=st.sampled_from((None, None, 1, 4)),
    router=st.sampled_from(("round-robin", "least-loaded", "prefix-aware")),
)


def played(case: Case) -> SplitRun:
    return split_run(
        case.engine, load_of(case.arrivals), case.cost, link=case.link, prefill=case.prefill,
        decode=case.decode, closed=case.closed, router=case.router,
    )  # fmt: skip


@tries(max_examples=300)
@given(CASES)
def test_every_request_is_told_of_once_and_no_token_comes_before_its_cache(case: Case) -> None:
    run = played(case)  # blocks and endings of every server are counted up at its end

    places = np.concatenate([share.places for share in run.shares])
    assert sorted(places.tolist()) == list(range(len(case.arrivals)))
    came = {one.place: one.came_ns for one in run.transfers}
    assert len(came) == len(run.transfers)
    first, given_out = rows(run, "first_token_ns"), rows(run, "output_tokens")
    for place, when in enumerate(first):
        if when != UNSET:
            assert came[place] <= when
        assert given_out[place] <= load_of(case.arrivals).asked["output_tokens"][place]
    for one in run.transfers:
        assert one.came_ns - one.begun_ns >= case.link.latency_ns
        assert one.blocks > 0


@tries(max_examples=100)
@given(CASES)
def test_the_same_case_gives_the_same_run(case: Case) -> None:
    one, other = played(case), played(case)
    assert one.transfers == other.transfers
    for mine, theirs in zip(one.shares, other.shares, strict=True):
        assert mine.found.requests.tolist() == theirs.found.requests.tolist()
        assert mine.found.steps.tolist() == theirs.found.steps.tolist()


@tries(max_examples=200)
@given(st.integers(1, 190), st.integers(1, 9), st.booleans(), COSTS)
def test_alone_on_an_instant_link_a_request_takes_one_more_decode_than_on_one_server(
    prompt: int,
    answer: int,
    asynchronous: bool,  # noqa: FBT001 - drawn
    cost: StepCost,
) -> None:
    engine = settings(async_scheduling=asynchronous)
    load = load_of((arrival(prompt, answer),))
    run = split_run(engine, load, cost)
    alone = simulate(engine, (arrival(prompt, answer),), cost).requests[0]

    again = (
        Features(decode_tokens=1, decode_requests=1, decode_context=prompt - 1)
        if prompt > 1
        else Features(prefill_tokens=1, prefill_requests=1, prefill_pairs=1)
    )
    assert rows(run, "first_token_ns") == [(alone.first_token_ns or 0) + cost(again)]
    assert rows(run, "last_token_ns") == [(alone.last_token_ns or 0) + cost(again)]
    assert rows(run, "output_tokens") == [alone.output_tokens]


def test_answers_are_not_interrupted_by_prompts() -> None:
    load = load_of(tuple(arrival(30, 20, at_ms=15 * n) for n in range(20)))
    engine = settings(num_blocks=400)
    run = split_run(engine, load, decode=1)
    steps = run.shares[1].found.steps
    assert (steps["prefill_tokens"] == 0).all()
    assert (run.shares[0].found.steps["decode_tokens"] == 0).all()
    assert rows(run, "ending") == [OK] * 20


def test_the_first_token_waits_for_the_link() -> None:
    load = load_of((arrival(40, 3),))
    fast, slow = (
        split_run(settings(), load, link=link) for link in (INSTANT, Link(1e6, 5_000_000))
    )
    waits = 10 * 1_000_000 + 5_000_000  # ten blocks of 1,000 bytes at 1,000 bytes a millisecond
    assert rows(slow, "first_token_ns")[0] - rows(fast, "first_token_ns")[0] == waits


def test_a_prefill_server_keeps_the_blocks_until_they_are_fetched() -> None:
    arrivals = (arrival(40, 2), arrival(40, 2))
    small = settings(num_blocks=16, max_model_len=60)  # room for one prompt
    run = split_run(small, load_of(arrivals), link=Link(1e5), decode=2)
    first = next(one for one in run.transfers if one.place == 0)
    assert rows(run, "scheduled_ns")[1] >= first.came_ns
    assert rows(run, "ending") == [OK, OK]


def test_a_prefix_that_a_decode_server_has_is_not_sent_again() -> None:
    twice = tuple(arrival(40, 3, at_ms=900 * n, prefix=tuple(range(8))) for n in range(2))
    run = split_run(settings(prefix_caching=True), load_of(twice))
    assert [one.blocks for one in run.transfers] == [10, 2]
    assert rows(run, "hit_tokens") == [0, 32]


def test_a_client_that_leaves_while_its_cache_comes_frees_both_servers() -> None:
    leaving = (arrival(40, 5, cancel_after_ns=60_000_000), arrival(40, 5, at_ms=100))
    run = split_run(settings(num_blocks=16, max_model_len=60), load_of(leaving), link=Link(2e5))
    assert rows(run, "ending") == [ENDINGS.index(Ending.CANCELLED), OK]


def test_decode_servers_without_room_leave_the_prompts_where_they_are() -> None:
    arrivals = tuple(arrival(40, 90) for _ in range(5))
    small = settings(num_blocks=21, max_model_len=190)
    run = split_run(small, load_of(arrivals))
    assert rows(run, "ending") == [ENDINGS.index(Ending.INCOMPLETE)] * 5
    assert run.shares[1].found.stuck.startswith("Request 0 outgrows the pool of 20 KV blocks")
    assert run.shares[0].found.stuck == (
        "The KV blocks of 2 computed prompts fill a prefill server and are never fetched, because the "
        "decode servers cannot go on; see what holds those back."
    )


def test_a_closed_loop_over_two_pools_sends_the_next_when_one_ends() -> None:
    load = load_of(tuple(arrival(9, 4, at_ms=n) for n in range(6)))
    run = split_run(settings(), load, closed=2)
    assert run.sent_ns is not None
    ends = sorted(rows(run, "last_token_ns"))
    assert run.sent_ns.tolist() == [0, 0, *ends[:4]]


def test_caches_queue_at_both_ends_of_the_link() -> None:
    ports = Ports(Link(1e9, 7), 1000, servers=4)
    assert ports.transfer(0, 5, (0, 2)) == 5007
    assert ports.transfer(0, 5, (1, 3)) == 5007  # other servers
    assert ports.transfer(1000, 5, (0, 3)) == 10007  # both busy until 5000
    assert ports.transfer(20_000, 1, (0, 3)) == 21_007


@pytest.mark.parametrize(
    ("link", "says"),
    [
        ((0.0, 0), "A link of 0 bytes a second carries nothing; give more than 0."),
        ((1.0, -2), "A link's latency is -2 ns, but cannot be negative; give 0 or more."),
    ],
)
def test_links_that_mean_nothing_are_refused(link: Any, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        Link(*link)


def test_windows_are_not_sent() -> None:
    engine = settings(groups=(FullAttention(), SlidingWindow(8)))
    with pytest.raises(CannotKnow, match="How sliding windows and recurrent states are sent"):
        split_run(engine, load_of((arrival(),)))


def test_transfers_of_one_decode_server_do_not_overlap() -> None:
    load = load_of(tuple(arrival(30, 3, at_ms=n) for n in range(12)))
    run = split_run(settings(num_blocks=400), load, link=Link(1e6), prefill=3)
    came = sorted(one.came_ns for one in run.transfers)
    assert all(later - sooner >= 8 * 1_000_000 for sooner, later in pairwise(came))
