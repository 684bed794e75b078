"""The concurrency that theory prints beside a simulation, for every kind of group."""

from typing import Any

import numpy as np
import pytest

from vramledger.simulate.groups import FullAttention, Group, RecurrentState, SlidingWindow
from vramledger.simulate.offered import Offered
from vramledger.simulate.saturation import held as held_by
from vramledger.simulate.saturation import mix_of
from vramledger.simulate.settings import Settings
from vramledger.simulate.theory import kv_feasible_concurrency

BLOCKS = 10_000


def alike(prompt: int, output: int, count: int = 10) -> Offered:
    absent, none = np.full(count, -1, np.int64), np.zeros(0, np.int64)
    return Offered(
        np.arange(count), np.zeros(count, np.int64), np.full(count, prompt), np.full(count, output),
        absent, absent, absent, none, np.zeros(count, np.int64), 0, 0,
    )  # fmt: skip


def held(*groups: Group, **changes: Any) -> float:
    asked: dict[str, Any] = {
        "num_blocks": BLOCKS + 1, "block_size": 16, "token_budget": 2048, "max_num_seqs": 256,
        "max_model_len": 4096,
    }  # fmt: skip
    settings = Settings(**asked | changes, groups=groups)
    mix = mix_of(alike(1600, 160), settings)
    assert mix is not None
    return held_by(settings, mix)


def test_full_groups_share_the_pool_less_half_of_the_prompt_that_waits() -> None:
    alone = kv_feasible_concurrency(BLOCKS - 50, 16, 1600, 160).staggered  # a prompt takes 100
    assert held(FullAttention()) == pytest.approx(alone, rel=0.001)
    assert held(FullAttention(), FullAttention()) == pytest.approx(
        kv_feasible_concurrency(BLOCKS // 2 - 50, 16, 1600, 160).staggered, rel=0.001
    )


def test_a_state_takes_one_block_and_a_window_its_own() -> None:
    each = (BLOCKS - 50) / held(FullAttention())
    assert held(FullAttention(), RecurrentState()) == pytest.approx(
        (BLOCKS - 50.5) / (each + 1), rel=0.001
    )
    assert held(FullAttention(), SlidingWindow(128)) == pytest.approx(
        (BLOCKS - 54.5) / (each + 9), rel=0.001
    )
    assert held(SlidingWindow(100_000)) == pytest.approx(held(FullAttention()))


def test_a_pool_that_holds_little_more_than_one_holds_one() -> None:
    assert held(FullAttention(), num_blocks=112) == 1
