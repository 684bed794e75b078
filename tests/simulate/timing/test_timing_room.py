"""How many requests a cache holds, as a line through the blocks of one that grows."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from timing_questions import LLAMA, deployed
from vramledger.simulate.timing.room import Room, room_of

MODELS = {
    "full attention": LLAMA,
    "windows": "google/gemma-3-27b-it",
    "states": "Qwen/Qwen3-Next-80B-A3B-Instruct",
}


@cache
def room(model: str) -> Room:
    return room_of(deployed("-tp 2", model, "H200-141GB-SXM", "0.19.0"))


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
@pytest.mark.parametrize("output", [1, 2, 3, 7, 17, 100])
def test_a_short_answer_costs_no_more_than_its_blocks(model: str, output: int) -> None:
    found = room(model)
    assert found.pool is not None
    blocks = found.pool.layout.blocks_at(6_000 + output)
    assert found.held(6_000, output) == pytest.approx(found.pool.usable_blocks / blocks, rel=0.03)


@given(st.integers(1, 14_000), st.integers(1, 2_000))
def test_longer_answers_leave_room_for_no_more_requests(prompt: int, output: int) -> None:
    found = room(LLAMA)
    assert found.held(prompt, output + 16) < found.held(prompt, output)
