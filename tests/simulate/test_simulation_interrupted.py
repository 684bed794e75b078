"""Long simulations come back to Python often, tell how far they are, and join their rows in parts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vramledger.simulate.fast.load import load_of_columns
from vramledger.simulate.fast.records import STEP
from vramledger.simulate.fast.simulate import simulate_fast
from vramledger.simulate.joined_rows import all_rows, joined
from vramledger.simulate.percentiles import weighted
from vramledger.simulate.progress import with_clock
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost, fixed

SETTINGS = Settings(
    num_blocks=2_000, block_size=16, token_budget=1, max_num_seqs=1, max_model_len=4_096
)


def test_the_kernel_comes_back_after_a_bounded_number_of_steps() -> None:
    lengths = np.full(60, 1_000)
    load = load_of_columns(np.arange(60), lengths, np.full(60, 2))
    seen: list[tuple[int, int]] = []
    found = simulate_fast(
        SETTINGS, load, StepCost(constant=fixed(1e6)), told=lambda *now: seen.append(now)
    )
    assert len(seen) > found.step_count // (1 << 14)
    assert len(seen) >= 3
    assert seen == sorted(seen)
    assert seen[-1] == (60, found.end_ns)
    assert list(found.steps["number"]) == sorted(found.steps["number"])


def test_the_simulated_time_is_told_to_who_shows_it() -> None:
    class Shown:
        def __init__(self) -> None:
            self.times: list[int] = []

        def __call__(self, _done: int, _all: int) -> None:
            raise AssertionError("the requests go to the second")

        def at(self, now_ns: int) -> None:
            self.times.append(now_ns)

    shown, ended = Shown(), list[int]()
    with_clock(shown, ended.append)(3, 700)
    assert (shown.times, ended) == ([700], [3])
    with_clock(lambda _done, _all: None, ended.append)(4, 800)
    assert ended == [3, 4]


@given(st.lists(st.integers(0, 5), max_size=6))
def test_joined_rows_are_those_of_their_parts_in_order(lengths: list[int]) -> None:
    parts, first = [], 0
    for length in lengths:
        part = np.zeros(length, STEP)
        part["number"] = np.arange(first, first + length)
        parts.append(part)
        first += length
    whole = joined(list(parts), np.zeros(0, STEP))
    assert list(whole["number"]) == list(range(first))
    if parts:
        assert list(all_rows(parts)["number"]) == list(range(first))


def test_rows_of_one_table_are_not_copied() -> None:
    table = np.zeros(4, STEP)
    assert all_rows([table]) is table


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 10**9)), min_size=1, max_size=30))
def test_levels_by_count_are_the_percentiles_of_all_values(pairs: list[tuple[int, int]]) -> None:
    values, weights = (np.array(column) for column in zip(*pairs, strict=True))
    by_count = np.bincount(values, weights=weights).astype(np.float64)
    counted = weighted(np.arange(len(by_count), dtype=np.float64), by_count)
    assert counted == weighted(values.astype(np.float64), weights.astype(np.float64))
