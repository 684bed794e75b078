"""The engine loop: when requests are taken in, when their tokens come, how they end."""

import pytest

from simulated import MS, arrival, run, settings, ten_ms
from vramledger.errors import BadInput
from vramledger.simulate.loop import simulate
from vramledger.simulate.outcome import Ending
from vramledger.simulate.policy import StaticBatch
from vramledger.simulate.rules import SchedulingRules
from vramledger.simulate.step import Features


def test_one_request_alone_takes_a_step_for_its_prompt_and_one_for_each_further_token() -> None:
    outcome = run([arrival(8, 4, at_ms=3)])
    (request,) = outcome.requests

    assert request.ending is Ending.OK
    assert (request.queued_ns, request.scheduled_ns) == (3 * MS, 3 * MS)
    assert (request.first_token_ns, request.last_token_ns) == (13 * MS, 43 * MS)
    assert (request.first_token_step, request.last_token_step) == (0, 3)
    assert outcome.end_ns == 43 * MS
    assert [step.start_ns for step in outcome.steps] == [3 * MS, 13 * MS, 23 * MS, 33 * MS]


def test_who_arrives_during_a_step_is_queued_at_its_end() -> None:
    first, second = run([arrival(8, 4), arrival(8, 1, at_ms=14)]).requests

    assert first.last_token_ns == 40 * MS
    assert (second.queued_ns, second.first_token_ns) == (20 * MS, 30 * MS)


def test_with_two_steps_in_flight_a_newcomer_waits_for_the_one_that_is_scheduled_already() -> None:
    engine = settings(async_scheduling=True)
    first, second = run([arrival(8, 4), arrival(8, 1, at_ms=4)], engine).requests

    assert first.last_token_ns == 40 * MS  # no step is lost at the end
    assert (second.queued_ns, second.scheduled_ns) == (10 * MS, 20 * MS)
    assert second.first_token_ns == 30 * MS


def test_the_cost_is_asked_with_the_features_of_each_step() -> None:
    seen: list[Features] = []

    def cost(features: Features) -> int:
        seen.append(features)
        return 1

    run([arrival(5, 3), arrival(3, 2)], cost=cost)

    assert seen == [
        Features(prefill_tokens=8, prefill_requests=2, prefill_pairs=5 * 6 // 2 + 3 * 4 // 2),
        Features(decode_tokens=2, decode_requests=2, decode_context=5 + 3),
        Features(decode_tokens=1, decode_requests=1, decode_context=6),
    ]


def test_a_later_chunk_attends_to_what_was_computed_before() -> None:
    seen: list[Features] = []

    def cost(features: Features) -> int:
        seen.append(features)
        return 1

    run([arrival(40, 1)], cost=cost)

    assert [one.prefill_pairs for one in seen] == [32 * 33 // 2, 8 * 32 + 8 * 9 // 2]


def test_a_client_that_leaves_ends_its_request_at_the_next_boundary() -> None:
    first, second = run([arrival(8, 9, cancel_after_ns=15 * MS), arrival(8, 2, at_ms=21)]).requests

    assert first.ending is Ending.CANCELLED
    assert first.output_tokens == 1  # the second token's step ends after the client has left
    assert second.ending is Ending.OK


def test_a_clients_limit_is_told_apart_from_a_planned_end() -> None:
    (request,) = run([arrival(8, 9, cancel_after_ns=15 * MS, times_out=True)]).requests

    assert request.ending is Ending.TIMED_OUT


def test_at_one_instant_a_client_leaves_before_the_token_comes() -> None:
    (request,) = run([arrival(8, 9, cancel_after_ns=10 * MS)]).requests

    assert (request.ending, request.output_tokens) == (Ending.CANCELLED, 0)


def test_a_request_that_ended_cannot_be_cancelled() -> None:
    (request,) = run([arrival(8, 1, cancel_after_ns=50 * MS)]).requests

    assert request.ending is Ending.OK


def test_a_prompt_that_leaves_no_room_for_an_answer_is_rejected() -> None:
    first, second = run([arrival(200, 1), arrival(8, 1)]).requests

    assert (first.ending, first.queued_ns) == (Ending.REJECTED, None)
    assert second.ending is Ending.OK


def test_an_answer_cut_by_the_length_limit_is_incomplete() -> None:
    (request,) = run([arrival(195, 20)]).requests

    assert (request.ending, request.output_tokens) == (Ending.INCOMPLETE, 5)


def test_a_request_that_the_pool_cannot_hold_ends_in_a_sentence_and_holds_back_all_others() -> None:
    outcome = run([arrival(50, 1), arrival(8, 1)], settings(num_blocks=9))

    assert outcome.stuck == (
        "Request 0 with 50 tokens needs 13 KV blocks and the pool has 8, so it never starts "
        "and holds back all behind it; give the pool more blocks or keep such requests out with "
        "max_model_len."
    )
    assert outcome.count(Ending.INCOMPLETE) == 2
    assert outcome.end_ns == 0


def test_a_request_that_outgrows_the_pool_again_and_again_ends_in_a_sentence() -> None:
    engine = settings(num_blocks=9, rules=SchedulingRules(whole_prompt_admission=False))
    outcome = run([arrival(50, 1)], engine)

    assert outcome.stuck == (
        "Request 0 outgrows the pool of 8 KV blocks whenever it starts, so it is preempted and "
        "computed again for ever; give the pool more blocks or keep such requests out with "
        "max_model_len."
    )
    assert outcome.count(Ending.INCOMPLETE) == 1


def test_endless_recomputation_is_skipped_up_to_the_clients_leaving() -> None:
    engine = settings(num_blocks=9, rules=SchedulingRules(whole_prompt_admission=False))
    rows = [arrival(50, 1, cancel_after_ns=10**15), arrival(8, 1)]
    first, second = run(rows, engine).requests

    assert (first.ending, second.ending) == (Ending.CANCELLED, Ending.OK)


def test_when_its_client_leaves_those_behind_go_on() -> None:
    first, second = run(
        [arrival(50, 1, cancel_after_ns=5 * MS), arrival(8, 1)], settings(num_blocks=9)
    ).requests

    assert (first.ending, second.ending) == (Ending.CANCELLED, Ending.OK)
    assert second.scheduled_ns == 5 * MS


def test_preemptions_and_what_is_computed_again_are_counted() -> None:
    outcome = run([arrival(8, 8), arrival(8, 4)], settings(num_blocks=6))
    first, second = outcome.requests

    assert (first.preemptions, second.preemptions) == (0, 1)
    assert second.recomputed_tokens == 8
    assert outcome.preemptions == 1
    assert outcome.recomputed_tokens == 8
    assert sum(step.preempted for step in outcome.steps) == 1


def test_what_the_prefix_cache_brings_back_is_not_computed_again() -> None:
    engine = settings(num_blocks=7, prefix_caching=True)
    _first, second = run([arrival(8, 9), arrival(8, 9)], engine).requests

    assert second.preemptions == 1
    assert second.recomputed_tokens == 12 - 8


def test_blocks_are_counted_for_as_long_as_they_are_held() -> None:
    (request,) = run([arrival(8, 2)]).requests

    assert request.block_ns == (2 + 3) * 10 * MS


def test_hits_are_those_of_the_first_start() -> None:
    rows = [arrival(9, 2, prefix=(1, 2)), arrival(9, 2, at_ms=50, prefix=(1, 2))]
    first, second = run(rows, settings(prefix_caching=True)).requests

    assert (first.hit_tokens, second.hit_tokens) == (0, 8)


def test_a_static_batch_lets_nobody_join() -> None:
    engine = settings()
    rows = [arrival(8, 5), arrival(8, 2), arrival(8, 2, at_ms=5)]
    first, second, third = run(rows, engine, policy=StaticBatch(engine)).requests

    assert (first.last_token_ns, second.last_token_ns) == (50 * MS, 20 * MS)
    assert third.scheduled_ns == 50 * MS


def test_a_static_batch_holds_blocks_for_whole_answers_and_preempts_nobody() -> None:
    engine = settings(num_blocks=9)
    rows = [arrival(8, 12), arrival(8, 12)]
    static = run(rows, engine, policy=StaticBatch(engine))
    continuous = run(rows, engine)

    assert [step.running for step in static.steps] == [1] * 24
    assert static.preemptions == 0
    assert continuous.preemptions == 1
    assert continuous.end_ns < static.end_ns


def test_equal_arrivals_keep_the_order_given() -> None:
    rows = [arrival(8, 1), arrival(9, 1)]

    assert [one.input_tokens for one in run(rows).requests] == [8, 9]
    assert [one.input_tokens for one in run(rows[::-1]).requests] == [9, 8]


def test_nothing_to_do_ends_at_once() -> None:
    outcome = run([])

    assert (outcome.requests, outcome.steps, outcome.end_ns, outcome.stuck) == ((), (), 0, "")


def test_steps_that_take_no_time_end() -> None:
    outcome = run([arrival(8, 3)] * 5, cost=lambda _features: 0)

    assert outcome.count(Ending.OK) == 5
    assert outcome.end_ns == 0


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (
            arrival(0, 1),
            "Request 0 has 0 input and 1 output tokens, but needs at least one of each.",
        ),
        (
            arrival(1, 1, at_ms=-1),
            "Request 0 arrives at -1000000 ns, before the start; count times from the first arrival.",
        ),
        (
            arrival(1, 1, salt=-1),
            "Request 0 has the prefix salt -1, but salts count from 0; give another.",
        ),
        (
            arrival(1, 1, cancel_after_ns=-1),
            "Request 0 is cancelled -1 ns after it arrives, which is before; give 0 or more.",
        ),
    ],
)
def test_arrivals_that_mean_nothing_are_refused(wrong: object, says: str) -> None:
    with pytest.raises(BadInput) as refused:
        simulate(settings(), [wrong], ten_ms)  # type: ignore[list-item]

    assert str(refused.value) == says


@pytest.mark.parametrize("lasts", [-1, 0.5])
def test_a_cost_that_is_no_whole_number_of_nanoseconds_is_refused(lasts: float) -> None:
    with pytest.raises(BadInput) as refused:
        run([arrival()], cost=lambda _features: lasts)

    assert str(refused.value) == (
        f"The cost of a step is {lasts!r}, but must be a whole number of nanoseconds, 0 or more."
    )
