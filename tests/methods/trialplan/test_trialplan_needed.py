"""How many requests decide a line: against published figures, exact coverage, and runs whose truth is known."""

import re
from math import ceil, log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from vramledger.methods.trialplan.needed import decides, requests_needed
from vramledger.statistics.bounds import bounds


@pytest.mark.parametrize(
    ("share", "confidence", "requests"),
    [(0.90, 0.95, 29), (0.95, 0.95, 59), (0.99, 0.95, 299), (0.95, 0.9, 45), (0.99, 0.9, 230)],
)
def test_where_every_request_keeps_the_limit_it_is_the_success_run(
    share: float, confidence: float, requests: int
) -> None:
    """The tables of zero-failure tests: ln(1 - confidence) / ln(share)."""
    assert requests_needed(1.0, share, confidence) == requests
    assert requests == ceil(log(1 - confidence) / log(share))


@given(st.integers(0, 400), st.integers(1, 400), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_bounds_are_those_of_scipy(kept: int, more: int, confidence: float) -> None:
    counted = kept + more
    found = bounds(kept, counted, confidence)
    for side, mine in (("greater", found.low), ("less", found.high)):
        test = binomtest(kept, counted, alternative=side)
        theirs = test.proportion_ci(confidence, method="exact")
        assert mine == pytest.approx(theirs.low if side == "greater" else theirs.high, abs=1e-9)


@given(
    st.floats(0.5, 1.0), st.sampled_from([0.5, 0.9, 0.95, 0.99]), st.sampled_from([0.8, 0.9, 0.95])
)
@settings(max_examples=60, deadline=None)
def test_it_is_the_fewest_from_which_on_it_is_enough(
    truth: float, share: float, confidence: float
) -> None:
    needed = requests_needed(truth, share, confidence)
    if needed is None or needed > 20_000:
        return
    beyond = np.arange(needed, needed + 2_000)
    assert (decides(beyond, truth, share, confidence) >= confidence).all()
    if needed > 1:
        assert decides(np.array([needed - 1]), truth, share, confidence)[0] < confidence


@given(st.integers(2, 3_000), st.sampled_from([0.5, 0.9, 0.95, 0.99]), st.floats(0.01, 1.0))
@settings(max_examples=60, deadline=None)
def test_the_probability_is_that_of_the_bounds_themselves(
    counted: int, share: float, truth: float
) -> None:
    """Summed over every outcome, each judged by its own bounds; of one request a bound may lie on the share itself."""
    if truth == share:
        return
    kept = np.arange(counted + 1)
    likely = binom.pmf(kept, counted, truth) > 1e-12
    right = 0.0
    for k in kept[likely]:
        found = bounds(int(k), counted, 0.9)
        said = found.low >= share if truth > share else found.high < share
        right += binom.pmf(k, counted, truth) * said
    assert decides(np.array([counted]), truth, share, 0.9)[0] == pytest.approx(right, abs=1e-6)


@pytest.mark.parametrize("truth", [0.97, 0.98, 0.93, 0.9])
def test_so_many_requests_decide_rightly_and_seldom_wrongly(truth: float) -> None:
    """Drawn runs of the length that was called for: the decision they come to, against the truth."""
    share, confidence, runs = 0.95, 0.9, 4_000
    needed = requests_needed(truth, share, confidence)
    assert needed is not None
    kept = np.random.default_rng(7).binomial(needed, truth, runs)
    by_count = {int(k): bounds(int(k), needed, confidence) for k in np.unique(kept)}
    holds = np.mean([by_count[int(k)].low >= share for k in kept])
    fails = np.mean([by_count[int(k)].high < share for k in kept])
    right, wrong = (holds, fails) if truth > share else (fails, holds)
    assert right >= confidence - 4 * np.sqrt(0.09 / runs)
    assert wrong <= 0.001


def test_at_the_threshold_a_wrong_decision_is_no_likelier_than_stated() -> None:
    """Truth on the threshold itself, where either decision is as wrong as it can be."""
    counted, share, confidence = 500, 0.95, 0.9
    kept = np.arange(counted + 1)
    found = [bounds(int(k), counted, confidence) for k in kept]
    weights = binom.pmf(kept, counted, share)
    assert weights[[each.low > share for each in found]].sum() <= 1 - confidence
    assert weights[[each.high < share for each in found]].sum() <= 1 - confidence


def test_no_margin_no_sample() -> None:
    assert requests_needed(0.95, 0.95, 0.9) is None
    assert requests_needed(0.950001, 0.95, 0.9) is None  # of thousands of millions
    assert requests_needed(1.0, 1.0, 0.9) is None  # a maximum


def test_a_maximum_that_is_broken_shows() -> None:
    assert requests_needed(0.99, 1.0, 0.9) == 230


def test_less_margin_takes_more() -> None:
    needed = [requests_needed(truth, 0.95, 0.9) for truth in (1.0, 0.99, 0.98, 0.97, 0.96, 0.955)]
    assert needed == sorted(needed, key=lambda each: each or 0)


def test_the_table_of_the_page_is_what_is_computed() -> None:
    page = Path(__file__).parents[3] / "docs" / "explanation" / "trial-size.md"
    rows = re.findall(
        r"^\| ([\d.]+) % \| ([\d.]+) % \| ([\d,]+) \| ([\d,]+) \|$", page.read_text(), re.MULTILINE
    )
    assert len(rows) == 7
    for must, do, *stated in rows:
        needed = [requests_needed(float(do) / 100, float(must) / 100, each) for each in (0.9, 0.95)]
        assert [int(each.replace(",", "")) for each in stated] == needed
