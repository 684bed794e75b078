"""Cuts of windows into parts: nothing lost, and the variance and emptiness asked for."""

from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.workload.synth.splits import Split, _Windows, cut, fitted

splits = st.builds(
    Split,
    st.integers(2, 10),
    st.sampled_from((0.0, 0.5, 20.0)),
    st.sampled_from((1e-6, 0.3, 50.0, inf)),
    st.sampled_from((0.0, 0.4, 1.0)),
    st.sampled_from((0.0, 0.5, 1.0)),
)


@given(splits, st.lists(st.integers(0, 300), min_size=1, max_size=30), st.integers(0, 99))
def test_every_request_of_a_window_lands_in_one_of_its_parts(
    split: Split, counts: list[int], seed: int
) -> None:
    found = cut(np.array(counts), split, np.random.default_rng(seed))
    assert (found >= 0).all()
    assert found.reshape(-1, split.parts).sum(axis=1).tolist() == counts


WINDOWS = np.random.default_rng(0).negative_binomial(2, 0.02, 4000)


@pytest.mark.parametrize(
    ("burst", "concentration"), [(0.0, inf), (0.0, 0.7), (0.0, 40.0), (6.0, 2.0), (30.0, 1.0)]
)
def test_a_fit_finds_the_variance_and_the_empty_parts_of_a_known_split(
    burst: float, concentration: float
) -> None:
    known = Split(6, burst, concentration)
    rng = np.random.default_rng(7)
    seen = cut(WINDOWS, known, rng)
    found = fitted(WINDOWS, 6, float(seen.var()), float((seen == 0).mean()))
    again = np.array([cut(WINDOWS, found, rng) for _ in range(20)])
    variances, empties = again.var(axis=1), (again == 0).mean(axis=1)
    assert abs(variances.mean() - seen.var()) < 3 * variances.std() + 0.01 * seen.var()
    assert abs(empties.mean() - (seen == 0).mean()) < 3 * empties.std() + 0.005


def test_the_expected_share_of_empty_parts_is_what_draws_show() -> None:
    split = Split(10, 4.0, 1.5)
    windows = _Windows(*np.unique(WINDOWS, return_counts=True), 10)
    rng = np.random.default_rng(1)
    shares = np.array([(cut(WINDOWS, split, rng) == 0).mean() for _ in range(30)])
    error = shares.std(ddof=1) / 30**0.5
    assert abs(shares.mean() - windows.empty(split)) < 4 * error


def test_counts_more_even_than_a_lot_are_drawn_more_even() -> None:
    counts = np.full(20_000, 60)
    lot = cut(counts, Split(6), np.random.default_rng(0)).var()
    split = fitted(counts, 6, lot / 3, None)
    assert split.even_share > 0
    even = cut(counts, split, np.random.default_rng(1)).var()
    assert even == pytest.approx(lot / 3, rel=0.1)


@pytest.mark.parametrize("mixed", [0.0, 0.4, 1.0])
def test_even_counts_have_the_empty_parts_asked_for(mixed: float) -> None:
    counts = np.random.default_rng(2).poisson(30, 20_000)
    seen = cut(counts, Split(10, even_share=0.6, mixed=mixed), np.random.default_rng(3))
    split = fitted(counts, 10, float(seen.var()), float((seen == 0).mean()))
    again = cut(counts, split, np.random.default_rng(4))
    assert again.var() == pytest.approx(seen.var(), rel=0.05)
    assert (again == 0).mean() == pytest.approx((seen == 0).mean(), abs=0.0015)


def test_windows_without_requests_are_cut_into_parts_without() -> None:
    split = fitted(np.zeros(5, np.int64), 6, 0.0, 1.0)
    assert split == Split(6)
    assert not cut(np.zeros(5, np.int64), split, np.random.default_rng(0)).any()
