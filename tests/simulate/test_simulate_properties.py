"""What must hold for every engine and every load; the run itself checks blocks and requests."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulated import MS, Stepper, arrival, run, settings
from vramledger.simulate.acceptance import accepted_drafts
from vramledger.simulate.conservation import NotConserved, check_blocks
from vramledger.simulate.groups import FullAttention, Group, RecurrentState, SlidingWindow
from vramledger.simulate.keys import spread_prefix
from vramledger.simulate.outcome import Ending
from vramledger.simulate.policy import StaticBatch
from vramledger.simulate.request import Arrival
from vramledger.simulate.rules import SchedulingRules
from vramledger.simulate.settings import Order, Settings, Speculation
from vramledger.simulate.step import Features


def _cost(features: Features) -> int:
    return MS + 10_000 * features.prefill_tokens + 1_000 * features.decode_context


@st.composite
def _engines(draw: st.DrawFn) -> Settings:
    groups: list[Group] = draw(
        st.lists(
            st.one_of(
                st.just(FullAttention()),
                st.builds(SlidingWindow, st.integers(1, 40)),
                st.builds(RecurrentState, st.integers(0, 2)),
            ),
            min_size=1,
            max_size=3,
        )
    )
    speculation = draw(
        st.none()
        | st.builds(
            Speculation,
            tokens=st.integers(1, 4),
            acceptance=st.sampled_from((0, 500_000, 1_000_000)),
            lookahead=st.integers(0, 5),
            rows=st.integers(0, 1),
            drops_last_block=st.booleans(),
        )
    )
    return settings(
        num_blocks=draw(st.integers(2, 80)),
        block_size=draw(st.sampled_from((1, 4, 16))),
        token_budget=draw(st.integers(8, 60)),
        groups=tuple(groups),
        prefix_caching=draw(st.booleans()),
        long_prefill_threshold=draw(st.sampled_from((0, 0, 7))),
        order=draw(st.sampled_from(Order)),
        watermark_blocks=draw(st.sampled_from((0, 0, 2))),
        speculation=speculation,
        async_scheduling=draw(st.booleans()),
        checkpoint_interval=draw(st.sampled_from((None, 0, 16))),
        rules=SchedulingRules(
            whole_prompt_admission=draw(st.booleans()),
            uncached_blocks_first=draw(st.booleans()),
            own_preemption_ends_running=draw(st.booleans()),
        ),
    )


_ARRIVALS = st.lists(
    st.builds(
        Arrival,
        arrival_ns=st.integers(0, 200 * MS),
        input_tokens=st.integers(1, 60),
        output_tokens=st.integers(1, 40),
        prefix=st.sampled_from(((), (1,), (1, 2), (1, 2, 3), (4, 5))),
        salt=st.integers(0, 1),
        priority=st.integers(-1, 1),
        cancel_after_ns=st.none() | st.integers(0, 300 * MS),
        times_out=st.booleans(),
    ),
    max_size=12,
)


@given(_engines(), _ARRIVALS, st.integers(0, 3))
def test_every_request_ends_once_and_the_same_seed_gives_the_same_run(
    engine: Settings, arrivals: list[Arrival], seed: int
) -> None:
    outcome = run(arrivals, engine, cost=_cost, seed=seed)

    assert len(outcome.requests) == len(arrivals)
    assert outcome == run(arrivals, engine, cost=_cost, seed=seed)
    for request in outcome.requests:
        asked = arrivals_by_rank(arrivals)[request.rank].output_tokens
        assert request.output_tokens <= asked
        assert (request.ending is Ending.OK) == (request.output_tokens == asked)
        if request.first_token_ns is not None and request.queued_ns is not None:
            assert request.arrival_ns <= request.queued_ns < request.first_token_ns


def arrivals_by_rank(arrivals: list[Arrival]) -> list[Arrival]:
    """The arrivals in the order in which the loop numbers them."""
    return sorted(arrivals, key=lambda one: one.arrival_ns)


@given(_engines(), _ARRIVALS)
def test_the_device_runs_one_step_at_a_time_and_keeps_the_budget(
    engine: Settings, arrivals: list[Arrival]
) -> None:
    outcome = run(arrivals, engine, cost=_cost)

    for before, after in zip(outcome.steps, outcome.steps[1:], strict=False):
        assert before.end_ns <= after.start_ns
    for step in outcome.steps:
        tokens = step.features.prefill_tokens + step.features.decode_tokens
        assert 0 < tokens <= engine.token_budget
        assert step.running <= engine.max_num_seqs
        assert 0 <= step.used_blocks < engine.num_blocks


@given(_ARRIVALS, st.booleans())
def test_without_hits_or_preemptions_every_token_is_computed_exactly_once(
    arrivals: list[Arrival],
    asynchronous: bool,  # noqa: FBT001 - drawn
) -> None:
    plain = [arrival(one.input_tokens, one.output_tokens) for one in arrivals]
    engine = settings(num_blocks=1000, async_scheduling=asynchronous)
    outcome = run(plain, engine, cost=_cost)

    computed = sum(
        step.features.prefill_tokens + step.features.decode_tokens for step in outcome.steps
    )
    assert computed == sum(one.input_tokens + one.output_tokens - 1 for one in plain)
    assert outcome.recomputed_tokens == 0


@given(_ARRIVALS)
def test_two_steps_in_flight_deliver_what_one_delivers(arrivals: list[Arrival]) -> None:
    plain = [arrival(one.input_tokens, one.output_tokens, one.arrival_ns / MS) for one in arrivals]
    delivered = [
        [
            one.output_tokens
            for one in run(plain, settings(async_scheduling=how), cost=_cost).requests
        ]
        for how in (False, True)
    ]

    assert delivered[0] == delivered[1]


@given(st.integers(1, 60), st.integers(1, 6), st.integers(0, 5))
def test_with_every_draft_accepted_an_answer_takes_that_many_steps_fewer(
    output: int, drafts: int, ahead: int
) -> None:
    drafting = Speculation(tokens=drafts, acceptance=1_000_000, lookahead=ahead)
    outcome = run([arrival(8, output)], settings(speculation=drafting))

    assert len(outcome.steps) == 1 + -(-(output - 1) // (drafts + 1))


@given(st.integers(1, 30), st.integers(1, 6))
def test_with_every_draft_rejected_an_answer_takes_as_many_steps_as_without(
    output: int, drafts: int
) -> None:
    drafting = Speculation(tokens=drafts, acceptance=0, lookahead=drafts)

    assert len(run([arrival(8, output)], settings(speculation=drafting)).steps) == output


def test_drafts_are_accepted_as_often_as_is_asked() -> None:
    counts = Counter(accepted_drafts(5, rank, 9, 2, 700_000) for rank in range(20_000))

    assert counts[0] / 20_000 == pytest.approx(0.3, abs=0.01)
    assert counts[1] / 20_000 == pytest.approx(0.7 * 0.3, abs=0.01)
    assert counts[2] / 20_000 == pytest.approx(0.7 * 0.7, abs=0.01)


@given(st.integers(0, 9), st.integers(0, 9), st.integers(0, 99), st.integers(0, 6))
def test_more_drafts_never_take_an_accepted_one_back(
    seed: int, rank: int, position: int, drafts: int
) -> None:
    fewer = accepted_drafts(seed, rank, position, drafts, 600_000)
    more = accepted_drafts(seed, rank, position, drafts + 1, 600_000)

    assert fewer == min(more, drafts)


@given(st.integers(1, 150), st.integers(1, 40), st.integers(0, 3), st.booleans())
def test_a_state_group_never_holds_more_than_its_states(
    prompt: int,
    output: int,
    drafts: int,
    caching: bool,  # noqa: FBT001 - drawn
) -> None:
    speculation = Speculation(drafts, 500_000) if drafts else None
    engine = settings(
        groups=(RecurrentState(drafts),), prefix_caching=caching, speculation=speculation
    )
    stepper = Stepper(engine, [arrival(prompt, output)])
    most = 0
    while not stepper.scheduler.is_idle:
        stepper.step()
        most = max(most, stepper.used)

    assert most <= (2 if caching else 1) + drafts


@given(st.integers(1, 150), st.integers(1, 40), st.integers(1, 60))
def test_a_window_group_never_holds_more_than_its_cap(
    prompt: int, output: int, window: int
) -> None:
    engine = settings(groups=(SlidingWindow(window),))
    stepper = Stepper(engine, [arrival(prompt, output)])
    most = 0
    while not stepper.scheduler.is_idle:
        stepper.step()
        most = max(most, stepper.used)

    in_reach = min(window - 1 + engine.token_budget, engine.max_model_len)
    assert most <= -(-in_reach // engine.block_size) + 1


@given(_ARRIVALS)
def test_a_static_batch_never_preempts(arrivals: list[Arrival]) -> None:
    engine = settings()

    assert run(arrivals, engine, policy=StaticBatch(engine)).preemptions == 0


def test_a_block_that_is_counted_wrongly_is_noticed() -> None:
    stepper = Stepper(settings(), [arrival(8, 9)])
    stepper.step()
    cache = stepper.scheduler.state.cache
    check_blocks(cache, stepper.requests)

    cache.pool.references[1] += 1

    with pytest.raises(NotConserved, match="Block 1 is held 1 times, but counted otherwise"):
        check_blocks(cache, stepper.requests)


def test_recorded_blocks_are_spread_over_the_engines_smaller_ones() -> None:
    assert spread_prefix((5, 9), 512, 256) == (10, 11, 18, 19)
