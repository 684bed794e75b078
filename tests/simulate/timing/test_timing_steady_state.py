"""The steady state of a played loop: neither its start nor an end is in the means."""

from math import inf
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timing_questions import pricer
from vramledger.simulate.timing.capacity import Capacity
from vramledger.simulate.timing.closed_loop import Load
from vramledger.simulate.timing.lengths import Recorded, recorded
from vramledger.simulate.timing.replay import Played, Replay

WIDE = Capacity(1024)
DELAY = 0.02
MIXED = recorded([200, 3000, 900, 50] * 50, [40, 300, 700, 10] * 50)


def played(load: Load, capacity: Capacity = WIDE) -> Played:
    return Replay(pricer(), load, capacity, DELAY).play()


@pytest.mark.parametrize("concurrency", [1, 16, 100])
@pytest.mark.parametrize("lengths", [None, MIXED])
def test_the_steady_state_is_what_a_long_run_comes_to(
    concurrency: int, lengths: Recorded | None
) -> None:
    load = Load(1000, 200, concurrency, inf, recorded=lengths)
    run = Load(1000, 200, concurrency, 200 * concurrency, recorded=lengths)
    steady, long = played(load), played(run)
    assert steady.tpot == pytest.approx(long.tpot, rel=0.03)
    assert steady.ttft == pytest.approx(long.ttft, rel=0.15)
    assert steady.tokens_per_s == pytest.approx(long.tokens_per_s, rel=0.05)


def test_as_many_are_in_flight_as_asked_for_all_the_time() -> None:
    found = played(Load(1000, 200, 64), Capacity(1024, 40_000.0, 0.0, 1.0))
    assert found.waiting > 10
    outside = DELAY / (found.ttft + 199 * found.tpot)  # in the front, neither running nor waiting
    assert found.running + found.waiting == pytest.approx(64 * (1 - outside), rel=0.01)


def test_requests_of_one_length_stay_in_step_and_their_prompts_wait_for_each_other() -> None:
    alike, spread = (played(Load(1000, 200, 64, spread=share)) for share in (0.0, 1 / 9))
    assert alike.ttft > 3 * spread.ttft
    assert alike.tpot < spread.tpot  # no neighbour's prompt comes between two tokens
    same = played(Load(1000, 200, 64, recorded=recorded([1000] * 64, [200] * 64)))
    assert same.ttft == pytest.approx(alike.ttft, rel=0.01)


@given(st.lists(st.tuples(st.integers(1, 5000), st.integers(1, 500)), min_size=1, max_size=20))
def test_means_of_recorded_lengths_are_those_of_every_step(lengths: list[tuple[int, int]]) -> None:
    found = recorded([prompt for prompt, _ in lengths], [output for _, output in lengths])
    decoded = [prompt + output / 2 for prompt, output in lengths for _ in range(output)]
    ends = [prompt + output for prompt, output in lengths for _ in range(output)]
    before = [prompt / 2 for prompt, _ in lengths for _ in range(prompt)]
    assert found.decode_context == pytest.approx(mean(decoded))
    assert found.whole == pytest.approx(mean(ends))
    assert found.prompt_context == pytest.approx(mean(before))
    assert found.at(len(lengths)) == found.at(0)
