"""The compiled simulator against the plain loop: every number of every request and step."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as tries

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
from simulated import arrival, settings
from vramledger.engine.vllm.rules import WindowAdmission
from vramledger.errors import BadInput, CannotKnow
from vramledger.simulate.acceptance import accepted_drafts
from vramledger.simulate.fast.blocks.settle import accepted_drafts as compiled_drafts
from vramledger.simulate.fast.load import Load, load_of, load_of_columns
from vramledger.simulate.fast.records import FastOutcome, as_outcome
from vramledger.simulate.fast.simulate import simulate_fast
from vramledger.simulate.groups import FullAttention, RecurrentState, SlidingWindow
from vramledger.simulate.keys import spread_prefix
from vramledger.simulate.outcome import Ending
from vramledger.simulate.request import Arrival
from vramledger.simulate.rules import SchedulingRules
from vramledger.simulate.settings import Order, Speculation
from vramledger.simulate.step_cost import StepCost, fixed

COST = StepCost(constant=fixed(5e6), prefill_tokens=fixed(2e4), decode_context=fixed(30.3))


@tries(max_examples=200)
@given(COUNTED)
def test_counting_blocks_gives_what_the_loop_gives(case: Case) -> None:
    assert by_fast(case) == by_loop(case)


@tries(max_examples=200)
@given(ALL)
def test_following_blocks_gives_what_the_loop_gives(case: Case) -> None:
    assert by_fast(case, every_block=True) == by_loop(case)


@tries(max_examples=200)
@given(STATES)
def test_recurrent_states_are_followed_as_the_loop_has_them(case: Case) -> None:
    assert by_fast(case) == by_loop(case)


@tries(max_examples=200)
@given(ALWAYS_CAPPED)
def test_the_window_rule_of_020_is_followed_as_the_loop_has_it(case: Case) -> None:
    assert outcome_or_sentence(by_fast, case) == outcome_or_sentence(by_loop, case)


def test_an_engine_of_020_that_takes_more_than_it_counted_stops_with_an_error() -> None:
    engine = settings(
        num_blocks=12,
        block_size=1,
        token_budget=4,
        max_num_seqs=2,
        max_model_len=40,
        groups=(FullAttention(), SlidingWindow(1)),
        rules=SchedulingRules(window_admission=WindowAdmission.ALWAYS),
    )
    case = Case(engine, (arrival(1, 30), arrival(1, 30)), COST)

    for simulated in (by_loop, by_fast):
        assert outcome_or_sentence(simulated, case) == (
            "vLLM 0.20 counts no more blocks of a sliding window than its most for requests that run, "
            "takes more than it counted, and stops with an error when the pool has too few, as in this "
            "simulation; use a later version, a larger pool or fewer sequences."
        )


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("every_block", [False, True])
def test_a_pool_that_preempts_again_and_again_gives_the_same(
    asynchronous: bool,  # noqa: FBT001 - drawn
    every_block: bool,  # noqa: FBT001 - drawn
) -> None:
    arrivals = tuple(arrival(10 + n % 7, 20 + n % 11, at_ms=n // 3) for n in range(200))
    engine = settings(num_blocks=24, async_scheduling=asynchronous)
    loop = by_loop(Case(engine, arrivals, COST))

    assert loop.preemptions > 50
    assert by_fast(Case(engine, arrivals, COST), every_block=every_block) == loop


@pytest.mark.parametrize(
    "changed",
    [
        {"prefix_caching": True},
        {"long_prefill_threshold": 5},
        {"order": Order.PRIORITY},
        {"speculation": Speculation(3, 700_000, lookahead=3)},
        {"scheduled_tokens": 4},
        {"chunked_prefill": False, "token_budget": 200},
        {"watermark_blocks": 2},
        {"groups": (FullAttention(), FullAttention())},
        {"block_size": 1, "num_blocks": 97},
        {"groups": (FullAttention(), SlidingWindow(9))},
        {"groups": (SlidingWindow(6),), "prefix_caching": True},
        {"groups": (FullAttention(), RecurrentState()), "num_blocks": 33},
        {"groups": (RecurrentState(0, 1), FullAttention()), "prefix_caching": True},
        {"groups": (FullAttention(), RecurrentState()), "prefix_caching": True},
        {"pipeline_stages": 2, "async_scheduling": False, "prefix_caching": True},
        {"pipeline_stages": 3, "async_scheduling": False},
        {"pipeline_stages": 4},
    ],
)
def test_each_feature_alone_gives_the_same(changed: dict[str, object]) -> None:
    arrivals = tuple(
        arrival(
            8 + n % 17,
            9 + n % 5,
            at_ms=n,
            prefix=tuple(range(n % 4)),
            priority=n % 3,
            cancel_after_ns=40_000_000 if n % 10 == 9 else None,
        )
        for n in range(120)
    )
    case = Case(
        settings(**({"num_blocks": 25, "async_scheduling": True} | changed)), arrivals, COST
    )
    loop = by_loop(case)

    assert by_fast(case) == loop
    assert loop.count(Ending.OK) > 50


@pytest.mark.parametrize("every_block", [False, True])
@pytest.mark.parametrize("stages", [1, 2, 3, 4])
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("caching", [False, True])
def test_long_answers_that_are_seldom_disturbed_give_the_same(
    caching: bool,  # noqa: FBT001 - drawn
    asynchronous: bool,  # noqa: FBT001 - drawn
    stages: int,
    every_block: bool,  # noqa: FBT001 - drawn
) -> None:
    leaving = (None, None, 700_000_001, 1_333_333_333)
    arrivals = tuple(
        arrival(5 + n, 400 + 37 * n, at_ms=n * n * 60.007, cancel_after_ns=leaving[n % 4])
        for n in range(12)
    )
    engine = settings(
        num_blocks=300,
        block_size=16,
        max_model_len=700,
        prefix_caching=caching,
        async_scheduling=asynchronous,
        pipeline_stages=stages,
    )
    loop = by_loop(Case(engine, arrivals, COST))

    calm = sum(step.features.prefill_tokens == 0 and step.waiting == 0 for step in loop.steps)
    assert calm > 0.9 * len(loop.steps) > 500
    assert {Ending.OK, Ending.CANCELLED, Ending.INCOMPLETE} == {one.ending for one in loop.requests}
    assert by_fast(Case(engine, arrivals, COST), every_block=every_block) == loop


def test_free_blocks_that_are_found_again_more_often_than_their_ring_has_slots_give_the_same() -> (
    None
):
    names = (tuple(range(6)), tuple(range(50, 56)))
    arrivals = tuple(arrival(25, 2, at_ms=20 * n, prefix=names[n % 3 // 2]) for n in range(150))
    case = Case(settings(num_blocks=33, prefix_caching=True), arrivals, COST)
    loop = by_loop(case)

    found_again = sum(one.hit_tokens for one in loop.requests) // 4
    assert found_again > 4 * 128  # slots
    assert by_fast(case) == loop


def test_prefixes_found_again_and_evicted_give_the_same() -> None:
    arrivals = tuple(
        arrival(30, 6, at_ms=8 * n, prefix=tuple(range(50 * (n // 2 % 5), 50 * (n // 2 % 5) + 7)))
        for n in range(90)
    )
    case = Case(settings(num_blocks=30, prefix_caching=True), arrivals, COST)
    loop = by_loop(case)

    hits = [one.hit_tokens for one in loop.requests]
    assert 0 < sum(hit > 0 for hit in hits) < len(hits) - 5  # some were evicted
    assert by_fast(case) == loop


def test_recorded_prefixes_are_spread_as_the_plain_names_are() -> None:
    recorded = [(3, 4), (3, 5), (3, 4, 9), (8,)]
    spread = tuple(
        arrival(40, 3, at_ms=9 * n, prefix=spread_prefix(names, 16, 4))
        for n, names in enumerate(recorded)
    )
    engine = settings(prefix_caching=True)
    load = load_of(tuple(replace(one, prefix=recorded[n]) for n, one in enumerate(spread)))
    in_pieces = Load(load.asked, load.prefix, pieces=4)

    fast = simulate_fast(engine, in_pieces, COST)

    assert as_outcome(fast, in_pieces) == by_loop(Case(engine, spread, COST))


def _large() -> Load:
    draw, count = np.random.default_rng(7), 20_000
    return load_of_columns(
        np.sort(draw.integers(0, 500_000_000_000, count)),
        draw.integers(1, 3_000, count),
        draw.integers(1, 500, count),
    )


def test_counting_and_following_blocks_agree_on_twenty_thousand_requests() -> None:
    engine = settings(
        num_blocks=9_000,
        block_size=16,
        token_budget=8_192,
        max_num_seqs=1_024,
        max_model_len=8_192,
        async_scheduling=True,
    )
    load = _large()
    counted = simulate_fast(engine, load, COST)
    followed = simulate_fast(engine, load, COST, every_block=True)

    assert counted.requests["preemptions"].sum() > 100
    assert _bytes(counted) == _bytes(followed)


def _bytes(outcome: FastOutcome) -> tuple[list[bytes], list[bytes], int, str]:
    requests, steps = outcome.requests, outcome.steps
    return (
        [requests[name].tobytes() for name in requests.dtype.names or ()],
        [steps[name].tobytes() for name in steps.dtype.names or ()],
        outcome.end_ns,
        outcome.stuck,
    )


def test_the_same_seed_gives_the_same_bytes_and_another_accepts_other_drafts() -> None:
    engine = settings(speculation=Speculation(3, 500_000, lookahead=3))
    load = load_of(tuple(arrival(9, 40, at_ms=3 * n) for n in range(30)))
    first, again, other = (simulate_fast(engine, load, COST, seed=seed) for seed in (5, 5, 6))

    assert _bytes(first) == _bytes(again)
    assert _bytes(first) != _bytes(other)


def test_drafts_are_accepted_alike() -> None:
    for seed in (0, 1, -3, 1 << 63):
        for rank in range(40):
            arguments = (rank, 3 * rank, 5, 600_000)
            wide: Any = np.uint64(seed & ((1 << 64) - 1))
            assert compiled_drafts(wide, *arguments) == accepted_drafts(seed, *arguments)


def test_steps_handed_out_as_they_come_are_those_that_would_be_kept() -> None:
    load = load_of(tuple(arrival(5, 150, at_ms=1_000 * n) for n in range(200)))
    kept = simulate_fast(settings(), load, COST)
    handed: list[bytes] = []
    outcome = simulate_fast(settings(), load, COST, sink=lambda rows: handed.append(rows.tobytes()))

    assert len(handed) > 1
    assert b"".join(handed) == kept.steps.tobytes()
    assert outcome.step_count == kept.step_count == len(kept.steps)


def test_no_requests_make_no_steps() -> None:
    outcome = simulate_fast(settings(), load_of(()), COST)

    assert (len(outcome.requests), len(outcome.steps), outcome.end_ns) == (0, 0, 0)


def test_what_it_cannot_do_is_named() -> None:
    with pytest.raises(CannotKnow, match="does not have pools of 2,147,483,648 blocks; simulate"):
        simulate_fast(settings(num_blocks=1 << 31), load_of((arrival(),)), COST)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (Arrival(0, 0, 3), "Request 0 has 0 input and 3 output tokens, but needs at least one"),
        (Arrival(-1, 2, 3), "count times from the first"),
        (Arrival(0, 2, 3, cancel_after_ns=-5), "A request is cancelled before it arrives"),
    ],
)
def test_requests_that_mean_nothing_are_refused(wrong: Arrival, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        simulate_fast(settings(), load_of((wrong,)), COST)


def test_costs_that_64_bits_do_not_hold_are_refused() -> None:
    with pytest.raises(BadInput, match="could cost more nanoseconds than 64 bits hold"):
        simulate_fast(settings(), load_of((arrival(),)), StepCost(prefill_pairs=fixed(1e12)))


def test_a_table_of_costs_needs_an_entry() -> None:
    with pytest.raises(BadInput, match="table of step costs by tokens is empty"):
        StepCost(by_tokens=())
