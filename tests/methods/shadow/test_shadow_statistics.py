"""Intervals against what is drawn from known chances, and verdicts."""

from collections.abc import Iterator

import numpy as np
import pytest

from vramledger.methods.shadow.figures import Figures, figures_of
from vramledger.methods.shadow.intervals import ByPrompt, agreement, median_first_difference, share
from vramledger.methods.shadow.pair import Pair
from vramledger.methods.shadow.verdict import noise_p, verdict_on


def pair(prompt: int, agreed: int, length: int = 32, *, parted: bool) -> Pair:
    return Pair(
        prompt, agreed, parted, not parted, length, length, length, 0, 0.0, 0.0, 0.0, 0.0
    )  # fmt: skip


def drawn(rng: np.random.Generator, hazards: np.ndarray, cap: int) -> Iterator[Pair]:
    """Answers that part at each place with the prompt's own chance, cut at `cap` tokens."""
    for prompt, hazard in enumerate(hazards):
        first = int(rng.geometric(hazard)) - 1
        yield pair(prompt, min(first, cap), cap, parted=first < cap)


@pytest.mark.parametrize(("hazard", "spread"), [(0.002, 1), (0.02, 1), (0.02, 8), (0.2, 1)])
def test_the_interval_of_the_agreement_holds_the_truth_as_often_as_it_says(
    hazard: float, spread: float
) -> None:
    """`spread`: half of the prompts are so many times more fragile. The truth is that of 200,000 prompts."""
    rng = np.random.default_rng(5)

    def hazards(count: int) -> np.ndarray:
        return np.where(rng.random(count) < 0.5, hazard, min(0.9, hazard * spread))

    many = list(drawn(rng, hazards(200_000), 32))
    truth = 1 - sum(each.parted for each in many) / sum(each.positions for each in many)
    held, times = 0, 120
    for seed in range(times):
        pairs = list(drawn(rng, hazards(60), 32))
        found = agreement(
            np.array([float(p.parted) for p in pairs]), np.array([float(p.positions) for p in pairs]), seed
        )  # fmt: skip
        assert found.low is not None
        assert found.high is not None
        held += found.low <= truth <= found.high
    assert held / times >= 0.90  # of 95 %: below it by chance once in some hundred seeds


def test_no_difference_among_few_answers_proves_little() -> None:
    found = agreement(np.zeros(40), np.full(40, 32.0), 0)
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(1 - 0.0881 * 40 / 1280, abs=1e-4)  # Clopper-Pearson, 0 of 40


def test_the_median_is_that_of_survival_and_not_of_those_that_parted() -> None:
    """Nine of ten answers end alike at 100: the one that parts at 3 makes no median of 3."""
    found = median_first_difference([2, *[100] * 9], [True, *[False] * 9])
    assert found.value is None
    assert found.reason == "fewer than half of the answers part before they end"
    plain = median_first_difference([0, 1, 2, 3, 4], [True] * 5)
    assert plain.value == 3
    assert plain.low is not None
    assert 1 <= plain.low <= 3
    assert median_first_difference([5, 6], [False, False]).reason == "no two answers part"


def test_the_median_finds_that_of_a_geometric_law() -> None:
    rng = np.random.default_rng(3)
    truth = np.log(0.5) / np.log(1 - 0.05)  # between 13 and 14
    held = 0
    for _ in range(100):
        first = rng.geometric(0.05, 80)
        cap = rng.integers(10, 60, 80)
        found = median_first_difference(
            np.minimum(first - 1, cap).tolist(), (first <= cap).tolist()
        )
        low, high = found.low or 0.0, found.high or 1e9
        held += low - 1 <= truth <= high + 1
    assert held >= 90


def test_shares_have_wilsons_interval() -> None:
    found = share(0, 10)
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(0.2775, abs=1e-4)


def figures(parted: int, of: int, at: int = 4, failed: int = 0) -> Figures:
    pairs = [
        pair(number, at if number < parted else 32, parted=number < parted) for number in range(of)
    ]
    return figures_of(pairs, failed, ByPrompt(0))


def test_a_threshold_within_the_interval_decides_nothing_and_the_prompts_needed_are_named() -> None:
    found = verdict_on(figures(30, 60), figures(0, 15), 0.975)
    assert (found.verdict, found.judged_by) == ("INCONCLUSIVE", "min_agreement")
    assert found.reason.endswith("and the 97.50% asked for lies within.")
    assert found.requests_needed is not None
    assert found.requests_needed > 60
    assert verdict_on(figures(30, 60), figures(0, 15), 0.90).verdict == "PASS"
    assert verdict_on(figures(30, 60), figures(0, 15), 0.999).verdict == "FAIL"


def test_failed_prompts_stand_in_the_way_of_a_pass() -> None:
    found = verdict_on(figures(0, 60, failed=50), figures(0, 15), 0.98)
    assert found.verdict == "INCONCLUSIVE"
    assert found.reason.endswith("mend the failures and compare again.")


def test_without_a_threshold_the_noise_of_a_is_the_measure() -> None:
    alike = verdict_on(figures(6, 60), figures(3, 30), None)
    assert (alike.verdict, alike.judged_by) == ("PASS", "noise")
    assert alike.reason.startswith(
        "B differs from A no more than A from itself: 6 of 60 answers of B part from A's, and 3 of 30 of A's from its own"
    )
    assert verdict_on(figures(50, 60), figures(3, 30), None).verdict == "FAIL"
    unsure = verdict_on(figures(10, 40), figures(0, 10), None)
    assert unsure.verdict == "INCONCLUSIVE"
    assert unsure.reason.endswith("; more prompts or a larger --repeat-a would tell.")
    few = verdict_on(figures(0, 60), figures(0, 5), None)
    assert (few.verdict, few.requests_needed) == ("INCONCLUSIVE", 120)


def test_two_runs_of_one_server_are_told_apart_no_more_often_than_the_level_says() -> None:
    rng, told = np.random.default_rng(11), 0
    for _ in range(200):
        found, noise = figures(int(rng.binomial(60, 0.3)), 60), figures(int(rng.binomial(30, 0.3)), 30)  # fmt: skip
        p = noise_p(found, noise)
        assert p is not None
        told += p < 0.025
    assert told <= 10


def test_nothing_answered_is_no_verdict() -> None:
    found = verdict_on(figures_of([], 9, ByPrompt(0)), figures_of([], 0, ByPrompt(0)), 0.9)
    assert (found.verdict, found.reason) == (
        "INCONCLUSIVE",
        "No two answers have a token to compare.",
    )
