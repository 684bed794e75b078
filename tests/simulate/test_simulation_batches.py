"""Static batches over arrays, against the plain loop and by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from simulated import settings
from vramledger.simulate.batch_cost import extended
from vramledger.simulate.batches import Batching, serve_batches
from vramledger.simulate.columns import columns_of
from vramledger.simulate.fast.load import load_of
from vramledger.simulate.fast.records import CANCELLED, OK, REJECTED, TIMED_OUT, FastOutcome
from vramledger.simulate.loop import simulate
from vramledger.simulate.policy import StaticBatch
from vramledger.simulate.request import Arrival
from vramledger.simulate.step import Features
from vramledger.simulate.step_cost import StepCost, fixed

COST = StepCost(
    constant=fixed(900),
    prefill_requests=fixed(3),
    prefill_pairs=fixed(0.7),
    decode_requests=fixed(11),
    decode_context=fixed(1.3),
    prefill_step=fixed(40),
    by_tokens=tuple(fixed(2 * tokens) for tokens in range(3000)),
)
OWN, PADDED = Batching(padded=False), Batching(padded=True)
ENGINES = st.builds(
    settings,
    num_blocks=st.integers(12, 40),
    max_num_seqs=st.integers(1, 5),
    token_budget=st.just(3000),  # a whole batch in one step
    max_model_len=st.integers(30, 60),
)
ARRIVALS = st.lists(
    st.builds(
        Arrival,
        arrival_ns=st.integers(0, 60_000),
        input_tokens=st.integers(1, 40),
        output_tokens=st.integers(1, 30),
    ),
    min_size=1,
    max_size=20,
)


def served(
    arrivals: list[Arrival], batching: Batching, engine: Any = None, cost: StepCost = COST
) -> FastOutcome:
    return serve_batches(engine or settings(), load_of(arrivals), cost, batching)


@profile(max_examples=200, deadline=None)
@given(ENGINES, ARRIVALS)
def test_batches_over_arrays_are_those_of_the_plain_loop(
    engine: Any, arrivals: list[Arrival]
) -> None:
    found = served(arrivals, OWN, engine)
    plain = columns_of(simulate(engine, arrivals, COST, policy=StaticBatch(engine)))
    assert bool(found.stuck) == bool(plain.stuck)
    if found.stuck:
        return
    for name in found.requests.dtype.names or ():
        assert found.requests[name].tolist() == plain.requests[name].tolist(), name
    for name in found.steps.dtype.names or ():
        assert found.steps[name].tolist() == plain.steps[name].tolist(), name
    assert (found.end_ns, found.step_count) == (plain.end_ns, plain.step_count)


def test_a_padded_batch_computes_the_longest_prompt_and_answer_for_every_row() -> None:
    found = served([Arrival(0, 10, 3), Arrival(0, 4, 6), Arrival(5, 4, 1)], PADDED)
    steps = found.steps
    assert len(steps) == 6 + 1  # the third request waits for the batch
    first = steps[0]
    assert first["prefill_tokens"] == 2 * 10
    assert first["prefill_pairs"] == 2 * 55
    assert steps["decode_requests"].tolist() == [0, 2, 2, 2, 2, 2, 0]
    assert steps["decode_context"].tolist() == [0, 20, 22, 24, 26, 28, 0]
    assert steps["used_blocks"].tolist() == [6, 6, 6, 8, 8, 8, 1]
    assert steps["waiting"].tolist() == [0, 1, 1, 1, 1, 1, 0]
    assert found.requests["block_ns"][0] == found.requests["block_ns"][1]


def test_all_answers_of_a_padded_batch_come_together() -> None:
    found = served([Arrival(0, 10, 3), Arrival(0, 4, 6)], PADDED)
    assert found.requests["first_token_step"].tolist() == [0, 0]
    assert found.requests["last_token_step"].tolist() == [5, 5]
    assert found.requests["output_tokens"].tolist() == [3, 6]
    assert found.pauses is not None
    assert [tuple(row) for row in found.pauses.tolist()] == [(0, 1, 5)]


def test_a_batch_is_as_large_as_its_padded_cache_allows() -> None:
    short, long = Arrival(0, 8, 4), Arrival(0, 100, 100)
    pool = settings(num_blocks=100)
    assert served([short] * 8, PADDED, pool).step_count == 4
    mixed = served([short, short, long, short], PADDED, pool)
    assert mixed.requests["scheduled_step"].tolist() == [0, 0, 4, 104]


def test_a_request_that_no_batch_holds_is_named() -> None:
    found = served([Arrival(0, 8, 4), Arrival(0, 100, 80)], OWN, settings(num_blocks=30))
    assert found.requests["ending"][0] == OK
    assert found.stuck == (
        "Request 1 with 180 tokens needs 45 KV blocks and the pool has 29, so it never starts and "
        "holds back all behind it; give the pool more blocks or keep such requests out with "
        "max_model_len."
    )


def test_who_leaves_before_a_batch_is_not_in_it_and_who_leaves_later_gets_no_more_tokens() -> None:
    load = [
        Arrival(0, 8, 4),
        Arrival(1, 8, 4, cancel_after_ns=10),
        Arrival(2, 8, 20, cancel_after_ns=9_000),
        Arrival(3, 250, 4),
    ]
    found = served(load, OWN, settings(max_num_seqs=8))
    assert found.requests["ending"].tolist() == [OK, CANCELLED, CANCELLED, REJECTED]
    gone = found.requests[2]
    ends = found.steps["end_ns"]
    before = ends[(ends < 9_002) & (found.steps["number"] >= gone["scheduled_step"])]
    assert found.requests["output_tokens"].tolist() == [4, 0, len(before), 0]
    assert 0 < len(before) < 20
    assert gone["last_token_ns"] == before[-1] < 9_002
    assert len(found.steps) == 4 + 20  # the batch goes on without its client
    assert found.steps["waiting"].tolist()[:3] == [0, 1, 1]


LEAVING = st.lists(
    st.builds(
        Arrival,
        arrival_ns=st.integers(0, 20_000),
        input_tokens=st.integers(1, 40),
        output_tokens=st.integers(1, 30),
        cancel_after_ns=st.none() | st.integers(0, 90_000),
        times_out=st.booleans(),
    ),
    min_size=1,
    max_size=12,
)


@profile(max_examples=200, deadline=None)
@given(ENGINES, LEAVING, st.sampled_from([OWN, PADDED]))
def test_nobody_gets_a_token_after_leaving_a_batch(
    engine: Any, arrivals: list[Arrival], batching: Batching
) -> None:
    found = served(arrivals, batching, engine)
    ordered = sorted(arrivals, key=lambda one: one.arrival_ns)
    for one, row in zip(ordered, found.requests, strict=True):
        if row["ending"] not in {CANCELLED, TIMED_OUT}:
            continue
        assert one.cancel_after_ns is not None
        assert row["ending"] == (TIMED_OUT if one.times_out else CANCELLED)
        leaves = one.arrival_ns + one.cancel_after_ns
        ended = found.steps["end_ns"][found.steps["number"] >= row["scheduled_step"]] < leaves
        told = row["scheduled_step"] >= 0
        most = min(one.output_tokens, max(engine.max_model_len - one.input_tokens, 1))
        assert row["output_tokens"] == (min(ended.sum(), most - 1) if told else 0)
        assert (row["first_token_ns"] >= 0) == (row["output_tokens"] > 0)
        assert row["last_token_ns"] < leaves


def test_a_client_that_leaves_frees_those_it_held_back() -> None:
    """As in the plain loop, where the first that waits holds back all behind it."""
    load = [Arrival(0, 100, 80, cancel_after_ns=7_000), Arrival(1, 8, 4), Arrival(9_000, 8, 1)]
    engine = settings(num_blocks=30)
    found = served(load, OWN, engine)
    plain = columns_of(simulate(engine, load, COST, policy=StaticBatch(engine)))
    assert found.stuck == plain.stuck == ""
    for name in ("ending", "scheduled_ns", "last_token_ns", "output_tokens"):
        assert found.requests[name].tolist() == plain.requests[name].tolist(), name


@pytest.mark.parametrize("tokens", [1, 63, 64])
def test_a_cost_goes_on_beyond_its_table_as_it_rose_at_the_end(tokens: int) -> None:
    cost = StepCost(constant=fixed(5), by_tokens=tuple(fixed(50 + 3 * n) for n in range(65)))
    wider = extended(cost)
    inside = Features(decode_tokens=tokens)
    assert wider(inside) == cost(inside)
    assert wider(Features(prefill_tokens=1000)) == 5 + 50 + 3 * 1000


def test_nobody_waits_for_nothing() -> None:
    found = served([Arrival(0, 250, 4)], PADDED)
    assert (found.step_count, found.stuck, len(found.steps)) == (0, "", 0)
    assert np.array_equal(found.requests["ending"], [REJECTED])
