"""Fitted weights meet their margins."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vramledger.workload.synth.raking import Margin, raked


@given(st.integers(0, 1000))
def test_weights_of_a_grid_meet_both_margins_and_keep_independence(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = np.divmod(np.arange(12), 4)
    of_rows, of_columns = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(4))
    found = raked(np.full(12, 1 / 12), [Margin(rows, of_rows), Margin(columns, of_columns)])
    assert np.allclose(found.reshape(3, 4), np.outer(of_rows, of_columns), atol=1e-9)


def test_association_within_the_start_is_kept() -> None:
    start = np.array([0.4, 0.1, 0.1, 0.4])
    rows, columns = np.divmod(np.arange(4), 2)
    half = np.array([0.3, 0.7])
    found = raked(start, [Margin(rows, half), Margin(columns, half)])
    assert np.isclose(found[0] * found[3] / (found[1] * found[2]), 16)


def test_a_group_without_points_is_passed_over() -> None:
    found = raked(np.array([0.5, 0.5]), [Margin(np.array([0, 2]), np.array([0.3, 0.4, 0.3]))])
    assert found.tolist() == [0.5, 0.5]
