"""The concurrency that theory prints beside a simulation, for every kind of group."""

import pytest

from vramledger.simulate.capacity import held as held_by
from vramledger.simulate.groups import FullAttention, Group, RecurrentState, SlidingWindow
from vramledger.simulate.settings import Settings
from vramledger.simulate.theory import kv_feasible_concurrency


def held(*groups: Group) -> float:
    settings = Settings(
        num_blocks=1001, block_size=16, token_budget=2048, max_num_seqs=256, max_model_len=4096,
        groups=groups,
    )  # fmt: skip
    return held_by(settings, 1600, 160)


def test_full_groups_share_the_pool_evenly() -> None:
    alone = kv_feasible_concurrency(1000, 16, 1600, 160).staggered
    assert held(FullAttention()) == pytest.approx(alone)
    assert held(FullAttention(), FullAttention()) == pytest.approx(alone / 2)


def test_a_state_takes_one_block_and_a_window_its_own() -> None:
    each = 1000 / held(FullAttention())
    assert held(FullAttention(), RecurrentState()) == pytest.approx(1000 / (each + 1))
    assert held(FullAttention(), SlidingWindow(128)) == pytest.approx(1000 / (each + 9))
    assert held(SlidingWindow(100_000)) == pytest.approx(1000 / each)
