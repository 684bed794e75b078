"""Pipeline stages: steps follow each other through the device, and a request is in one at a time."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st

from fast_cases import ALL, Case, by_fast, by_loop
from simulated import MS, arrival, run, settings
from vramledger.errors import BadInput
from vramledger.simulate.engine_loop import EngineLoop
from vramledger.simulate.loop import simulate
from vramledger.simulate.outcome import Ending
from vramledger.simulate.pipeline import Passage, Pipeline
from vramledger.simulate.scheduler import Scheduler
from vramledger.simulate.settings import Settings
from vramledger.simulate.step import Step
from vramledger.simulate.step_cost import StepCost, fixed


def test_a_step_passes_the_stages_and_the_next_follows_behind_it() -> None:
    device = Pipeline(2)
    assert device.send(0, 10) == Passage(0, 5, 10)
    assert device.send(0, 10) == Passage(5, 10, 15)
    assert device.send(100, 11) == Passage(100, 106, 111)  # what does not divide comes first
    assert device.send(100, 2) == Passage(106, 111, 112)


def test_one_stage_is_a_plain_device() -> None:
    device = Pipeline(1)
    assert [device.send(now, 7) for now in (0, 3, 50)] == [
        Passage(0, 0, 7), Passage(7, 7, 14), Passage(50, 50, 57)
    ]  # fmt: skip


def piped(stages: int, **changed: object) -> Settings:
    return settings(pipeline_stages=stages, num_blocks=400, **changed)


def test_a_request_alone_takes_as_long_as_on_one_stage() -> None:
    alone = (arrival(100, 6),)
    one, four = (run(alone, piped(stages)).requests[0] for stages in (1, 4))
    assert four.last_token_ns is not None
    assert one.last_token_ns is not None
    chunks = 4  # of 32 tokens: they follow each other through the stages
    assert one.last_token_ns - four.last_token_ns == (chunks - 1) * 10 * MS * 3 // 4
    gap = (four.last_token_ns - (four.first_token_ns or 0)) / 5
    assert gap == 10 * MS


def test_blocks_are_held_as_long_as_steps_are_under_way() -> None:
    alone = (arrival(20, 6),)  # one chunk
    one, four = (run(alone, piped(stages)).requests[0] for stages in (1, 4))
    assert four.block_ns == one.block_ns > 0


def test_two_stages_compute_prompts_that_fill_steps_twice_as_fast() -> None:
    many = tuple(arrival(32, 1) for _ in range(64))
    ends = {stages: run(many, piped(stages)).end_ns for stages in (1, 2)}
    assert ends[1] / ends[2] == pytest.approx(2, rel=0.03)


def test_decodes_that_fit_one_step_leave_the_other_stages_idle() -> None:
    many = tuple(arrival(4, 50) for _ in range(8))  # all of them in the first step
    ends = {stages: run(many, piped(stages)).end_ns for stages in (1, 2)}
    assert ends[1] == ends[2]


def test_steps_do_not_overlap_in_the_last_stage() -> None:
    outcome = run(tuple(arrival(20, 9, at_ms=3 * n) for n in range(30)), piped(3))
    ends = [step.end_ns for step in outcome.steps]
    assert all(end <= step.start_ns for end, step in zip(ends, outcome.steps[1:], strict=False))


class _Watched(EngineLoop):
    """A loop that looks at who is scheduled while a step is under way that brings them a token."""

    twice = 0

    def _note(self, step: Step) -> None:
        awaited = set().union(*(flight.step.sampled for flight in self.in_flight))
        self.twice += sum(request.rank in awaited for request in step.scheduled)
        super()._note(step)


@tries(max_examples=300)
@given(ALL, st.integers(2, 4))
def test_a_request_is_in_one_step_at_a_time_and_everything_is_conserved(
    case: Case, stages: int
) -> None:
    engine = replace(
        case.settings, pipeline_stages=stages, async_scheduling=False, speculation=None
    )
    loop = _Watched(Scheduler(engine), case.cost)
    for one in sorted(case.arrivals, key=lambda arrival: arrival.arrival_ns):
        loop.send(one)
    outcome = loop.finish()  # asserts what must hold
    assert loop.twice == 0
    assert len(outcome.requests) == len(case.arrivals)
    if not outcome.stuck:
        assert all(
            request.ending is not Ending.INCOMPLETE
            or request.input_tokens + request.output_tokens >= engine.max_model_len
            for request in outcome.requests
        )


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("stages", [2, 3, 4])
def test_the_compiled_simulator_has_stages_that_do_not_divide_a_step_as_the_loop_has_them(
    stages: int,
    *,
    asynchronous: bool,
) -> None:
    """Prompts that fill steps, long decodes, and a pool that preempts; a step takes a prime number of nanoseconds."""
    arrivals = tuple(arrival(5 + n % 40, 9 + n % 31, at_ms=2 * n) for n in range(150))
    engine = settings(pipeline_stages=stages, num_blocks=60, async_scheduling=asynchronous)
    case = Case(engine, arrivals, StepCost(constant=fixed(9_999_991)))
    loop = by_loop(case)
    overlapping = sum(
        after.start_ns < step.end_ns + 9_999_991 // stages
        for step, after in itertools.pairwise(loop.steps)
    )
    assert overlapping > 100
    assert loop.preemptions > 10
    assert by_fast(case) == loop


def test_no_stage_at_all_is_refused() -> None:
    with pytest.raises(BadInput, match="pipeline_stages is 0, but the scheduler needs at least 1"):
        settings(pipeline_stages=0)


def test_same_requests_same_run() -> None:
    many = tuple(arrival(9 + n % 5, 7, at_ms=n) for n in range(40))
    assert simulate(piped(3), many, lambda _: MS) == simulate(piped(3), many, lambda _: MS)
