"""One step after another, against what vLLM's rules say by hand."""

import pytest

from simulated import Stepper, arrival, settings, tokens_of
from vramledger.errors import BadInput
from vramledger.simulate.groups import FullAttention, RecurrentState, SlidingWindow
from vramledger.simulate.request import Status
from vramledger.simulate.rules import SchedulingRules
from vramledger.simulate.settings import Order, Speculation


def test_a_prompt_is_computed_whole_and_then_one_token_a_step() -> None:
    stepper = Stepper(settings(), [arrival(10, 3)])

    assert stepper.steps(3) == [{0: 10}, {0: 1}, {0: 1}]
    assert stepper.requests[0].status is Status.FINISHED
    assert stepper.used == 0


def test_a_long_prompt_is_cut_to_the_budget_and_decodes_go_first() -> None:
    stepper = Stepper(settings(), [arrival(4, 9)])
    stepper.step()
    stepper.add(arrival(50, 2))

    assert stepper.steps(2) == [{0: 1, 1: 31}, {0: 1, 1: 19}]


def test_without_chunks_a_prompt_waits_for_a_step_with_room_and_holds_back_those_behind() -> None:
    engine = settings(chunked_prefill=False, token_budget=200)
    stepper = Stepper(engine, [arrival(150, 2), arrival(60, 2), arrival(4, 2)])

    assert stepper.steps(2) == [{0: 150}, {0: 1, 1: 60, 2: 4}]


def test_sequences_are_limited() -> None:
    stepper = Stepper(settings(max_num_seqs=2), [arrival(4, 2)] * 3)

    assert stepper.steps(3) == [{0: 4, 1: 4}, {0: 1, 1: 1}, {2: 4}]


def test_the_head_of_the_queue_holds_back_smaller_requests_behind_it() -> None:
    engine = settings(num_blocks=11)
    stepper = Stepper(engine, [arrival(20, 20), arrival(24, 2), arrival(4, 2)])

    assert stepper.steps(2) == [{0: 20}, {0: 1}]
    assert len(stepper.scheduler.state.waiting) == 2


def test_a_long_prefill_is_capped_unless_it_is_alone() -> None:
    alone = Stepper(settings(long_prefill_threshold=5), [arrival(20, 2)])
    both = Stepper(settings(long_prefill_threshold=5), [arrival(20, 2), arrival(20, 2)])

    assert alone.steps(1) == [{0: 20}]
    assert both.steps(1) == [{0: 5, 1: 5}]


def test_older_versions_cap_a_lone_prefill_too() -> None:
    engine = settings(long_prefill_threshold=5, rules=SchedulingRules(lone_prefill_uncapped=False))

    assert Stepper(engine, [arrival(20, 2)]).steps(1) == [{0: 5}]


def test_the_last_admitted_is_preempted_and_nobody_is_admitted_in_that_step() -> None:
    engine = settings(num_blocks=5)
    stepper = Stepper(engine, [arrival(8, 8), arrival(8, 8)])
    stepper.add(arrival(1, 1))
    assert stepper.steps(1) == [{0: 8, 1: 8}]

    step = stepper.step()

    assert tokens_of(step) == {0: 1}
    assert [request.rank for request in step.preempted] == [1]
    assert len(stepper.scheduler.state.waiting) == 2


def test_a_preempted_request_computes_prompt_and_answer_again() -> None:
    engine = settings(num_blocks=6)
    stepper = Stepper(engine, [arrival(8, 8), arrival(8, 4)])
    stepper.step()
    second = stepper.requests[1]

    step = stepper.step()
    assert tokens_of(step) == {0: 1}
    assert step.preempted == [second]
    assert second.preemptions == 1

    assert next(tokens for tokens in stepper.steps(20) if 1 in tokens) == {1: 9}


def test_a_resumed_request_finds_its_own_blocks_in_the_prefix_cache() -> None:
    engine = settings(num_blocks=7, prefix_caching=True)
    stepper = Stepper(engine, [arrival(8, 9), arrival(8, 9)])

    steps = stepper.steps(10)

    assert steps[5] == {0: 1}  # the second is preempted with 12 tokens computed
    assert steps[9] == {1: 5}  # of 13 known tokens, two blocks of four are found again


def test_by_priority_the_least_urgent_is_preempted_and_its_tokens_go_back() -> None:
    engine = settings(num_blocks=6, order=Order.PRIORITY)
    stepper = Stepper(engine, [arrival(8, 8, priority=1), arrival(8, 8, priority=0)])
    assert stepper.steps(1) == [{1: 8, 0: 8}]

    step = stepper.step()

    assert tokens_of(step) == {1: 1}
    assert [request.rank for request in step.preempted] == [0]


def test_a_more_urgent_request_overtakes_the_queue() -> None:
    engine = settings(max_num_seqs=1, order=Order.PRIORITY)
    stepper = Stepper(engine, [arrival(4, 2), arrival(4, 1)])
    stepper.step()
    stepper.add(arrival(4, 1, priority=-1))

    assert stepper.steps(3) == [{0: 1}, {2: 4}, {1: 4}]


def test_the_whole_prompt_must_fit_before_its_first_chunk_starts() -> None:
    rows = [arrival(20, 20), arrival(24, 2)]
    whole = settings(num_blocks=11, token_budget=16, max_num_seqs=4)
    first_chunk = settings(
        num_blocks=11,
        token_budget=16,
        max_num_seqs=4,
        rules=SchedulingRules(whole_prompt_admission=False),
    )

    assert Stepper(whole, rows).steps(2) == [{0: 16}, {0: 4}]
    assert Stepper(first_chunk, rows).steps(2) == [{0: 16}, {0: 4, 1: 12}]


def test_equal_prompts_share_blocks_but_the_last_token_is_computed_again() -> None:
    engine = settings(prefix_caching=True)
    rows = [arrival(8, 3, prefix=(1, 2)), arrival(8, 3, prefix=(1, 2))]
    stepper = Stepper(engine, rows)

    assert stepper.steps(1) == [{0: 8, 1: 4}]
    assert stepper.used == 3


def test_another_salt_keeps_equal_prompts_apart() -> None:
    engine = settings(prefix_caching=True)
    rows = [arrival(8, 3, prefix=(1, 2)), arrival(8, 3, prefix=(1, 2), salt=5)]

    assert Stepper(engine, rows).steps(1) == [{0: 8, 1: 8}]


def test_a_window_gives_blocks_back_that_nobody_reads_any_more() -> None:
    engine = settings(groups=(SlidingWindow(8),))
    stepper = Stepper(engine, [arrival(30, 10)])
    stepper.step()
    assert stepper.used == 8

    stepper.step()

    assert stepper.used == 3  # 31 tokens end in the eighth block; the window begins in the sixth


def test_a_hybrid_holds_blocks_in_both_groups() -> None:
    engine = settings(groups=(FullAttention(), SlidingWindow(8)))
    stepper = Stepper(engine, [arrival(30, 10)])
    stepper.steps(2)

    assert stepper.used == 8 + 3


def test_a_state_takes_one_block_whatever_the_length() -> None:
    stepper = Stepper(settings(groups=(RecurrentState(),)), [arrival(30, 10)])

    assert [stepper.used for _ in range(10) if stepper.step()] == [1] * 9 + [0]


def test_states_for_drafts_are_held_beside_the_running_one() -> None:
    stepper = Stepper(settings(groups=(RecurrentState(3),)), [arrival(30, 10)])
    stepper.step()

    assert stepper.used == 4


def test_with_prefix_caching_a_prefill_ends_where_a_state_is_kept() -> None:
    engine = settings(groups=(FullAttention(), RecurrentState()), prefix_caching=True)
    stepper = Stepper(engine, [arrival(11, 3, prefix=(1, 2)), arrival(11, 3, prefix=(1, 2))])

    assert stepper.steps(2) == [{0: 8}, {0: 3}]


def test_a_kernel_that_writes_the_state_inside_a_chunk_saves_a_step_and_takes_a_block() -> None:
    groups = (FullAttention(), RecurrentState(checkpoint=1))
    engine = settings(groups=groups, prefix_caching=True)
    stepper = Stepper(engine, [arrival(11, 3, prefix=(1, 2))])

    assert stepper.steps(1) == [{0: 11}]
    assert stepper.used == 3 + 2  # three blocks of attention, the running state, the one at 8
    stepper.add(arrival(11, 3, prefix=(1, 2)))
    assert stepper.steps(1) == [{0: 1, 1: 3}]


def test_drafts_are_verified_together_and_lookahead_slots_are_held() -> None:
    drafting = Speculation(tokens=3, acceptance=1_000_000, lookahead=3)
    stepper = Stepper(settings(speculation=drafting), [arrival(8, 9)])

    assert stepper.steps(1) == [{0: 8}]
    assert stepper.used == 3  # 8 tokens and 3 slots
    assert stepper.steps(2) == [{0: 4}, {0: 4}]
    assert stepper.requests[0].status is Status.FINISHED


def test_rejected_drafts_are_computed_again_as_one_token() -> None:
    drafting = Speculation(tokens=3, acceptance=0, lookahead=3)
    stepper = Stepper(settings(speculation=drafting), [arrival(8, 4)])

    assert stepper.steps(4) == [{0: 8}, {0: 4}, {0: 4}, {0: 4}]


def test_an_aborted_request_frees_its_blocks_at_once() -> None:
    stepper = Stepper(settings(), [arrival(8, 9), arrival(8, 9)])
    stepper.step()

    stepper.scheduler.abort(stepper.requests[0])

    assert stepper.used == 3 - 1
    assert stepper.steps(1) == [{1: 1}]


def test_a_waiting_request_can_be_aborted_and_an_ended_one_stays_as_it_is() -> None:
    stepper = Stepper(settings(max_num_seqs=1), [arrival(8, 1), arrival(8, 9)])
    stepper.step()
    first, second = stepper.requests

    stepper.scheduler.abort(second)
    stepper.scheduler.abort(first)

    assert (first.status, second.status) == (Status.FINISHED, Status.ABORTED)
    assert stepper.scheduler.is_idle


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (
            {"num_blocks": 1},
            "num_blocks is 1, but one block is the null block and serves nobody; give at least 2.",
        ),
        (
            {"block_size": 0},
            "block_size is 0, but the scheduler needs at least 1; give a positive whole number.",
        ),
        (
            {"token_budget": 4},
            (
                "max_num_batched_tokens (4) is smaller than max_num_seqs (8), which vLLM refuses; "
                "raise the first or lower the second."
            ),
        ),
        (
            {"chunked_prefill": False},
            (
                "max_num_batched_tokens (32) is smaller than max_model_len (200) without chunked "
                "prefill, which vLLM refuses; raise the first or allow chunks."
            ),
        ),
        (
            {"long_prefill_threshold": 300},
            (
                "long_prefill_token_threshold (300) is larger than max_model_len (200), which vLLM "
                "refuses; lower it."
            ),
        ),
        ({"groups": ()}, "The scheduler has no KV cache group; give at least one."),
        (
            {"groups": (SlidingWindow(0),)},
            "A window of 0 tokens attends to nothing; give at least 1.",
        ),
        (
            {"watermark_blocks": -1},
            "watermark_blocks is -1, but it cannot be negative; give 0 to switch it off.",
        ),
    ],
)
def test_settings_that_mean_nothing_are_refused(changed: dict[str, object], says: str) -> None:
    with pytest.raises(BadInput) as refused:
        settings(**changed)

    assert str(refused.value) == says
