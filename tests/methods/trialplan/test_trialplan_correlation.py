"""How much correlated requests say: series whose long-run variance is known in closed form."""

import numpy as np
import pytest

from vramledger.methods.trialplan.draining import GROWTH, seconds_needed, slope_of
from vramledger.methods.trialplan.needed import requests_needed
from vramledger.statistics.bounds import bounds
from vramledger.statistics.correlation import design_effect, long_run_variance


def autoregressive(factor: float, count: int, seed: int) -> np.ndarray:
    draw = np.random.default_rng(seed).normal(size=count)
    found = np.zeros(count)
    for place in range(1, count):
        found[place] = factor * found[place - 1] + draw[place]
    return found


@pytest.mark.parametrize("factor", [0.0, 0.5, 0.9])
def test_the_long_run_variance_of_an_autoregression(factor: float) -> None:
    """1 / (1 - factor)^2 for noise of variance 1."""
    found = [long_run_variance(autoregressive(factor, 20_000, seed)) for seed in range(5)]
    assert np.mean(found) == pytest.approx(1 / (1 - factor) ** 2, rel=0.12)


def test_independent_requests_count_in_full() -> None:
    kept = (np.random.default_rng(1).random(50_000) < 0.95).astype(float)
    assert design_effect(kept) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("cluster", [2, 5, 20])
def test_requests_that_fare_alike_in_clusters_count_once_each(cluster: int) -> None:
    each = (np.random.default_rng(2).random(8_000) < 0.9).astype(float)
    assert design_effect(np.repeat(each, cluster)) == pytest.approx(cluster, rel=0.15)


def test_entries_that_stand_for_several_events_are_clusters_too() -> None:
    each = (np.random.default_rng(3).random(8_000) < 0.9).astype(float)
    assert design_effect(each, np.full(8_000, 5.0)) == pytest.approx(5.0, rel=0.15)


@pytest.mark.parametrize("kept", [np.ones(100), np.zeros(100), np.ones(3), np.ones(0)])
def test_what_does_not_vary_has_no_effect(kept: np.ndarray) -> None:
    assert design_effect(kept) == 1.0


def test_a_block_bootstrap_agrees() -> None:
    """The variance of the share over blocks much longer than the correlation, by another road."""
    kept = (autoregressive(0.8, 60_000, 4) < 2.0).astype(float)
    share, block = kept.mean(), 500
    means = kept.reshape(-1, block).mean(axis=1)
    by_blocks = means.var(ddof=1) * block / (share * (1 - share))
    assert design_effect(kept) == pytest.approx(by_blocks, rel=0.3)


def test_the_effect_keeps_what_the_confidence_promises() -> None:
    """Correlated runs of the length called for decide as often as they should; as if independent they would not."""
    truth, share, confidence, cluster = 0.98, 0.95, 0.9, 8
    needed = requests_needed(truth, share, confidence)
    assert needed is not None
    draw = np.random.default_rng(5)
    right = 0
    for _ in range(400):
        kept = np.repeat((draw.random(needed) < truth).astype(float), cluster)
        effect = design_effect(kept)
        right += bounds(kept.sum() / effect, len(kept) / effect, confidence).low >= share
    assert right / 400 >= confidence - 0.05


def test_a_slope_is_told_in_the_time_called_for() -> None:
    """Queues that stay, and queues that grow by a tenth of the arrivals, of just that length."""
    arrivals, confidence = 2.0, 0.9
    long = np.maximum(autoregressive(0.9, 20_000, 6) + 5, 0)
    seconds = int(seconds_needed(long, 1.0, arrivals, confidence)) + 1
    stays = grows = 0
    for seed in range(200):
        queue = autoregressive(0.9, seconds + 100, 100 + seed)[100:] + 5
        growing = queue + GROWTH * arrivals * np.arange(seconds)
        still, rising = (slope_of(each, 1.0, confidence) for each in (queue, growing))
        assert still is not None
        assert rising is not None
        stays += still.high < GROWTH * arrivals
        grows += rising.low > 0
    assert stays / 200 >= 0.8
    assert grows / 200 >= 0.8


def test_a_queue_that_is_never_there_takes_no_time() -> None:
    assert seconds_needed(np.zeros(600), 1.0, 1.0, 0.9) == 0.0
    assert slope_of(np.zeros(5), 1.0, 0.9) is None
    found = slope_of(np.zeros(100), 1.0, 0.9)
    assert found is not None
    assert (found.value, found.low, found.high, found.emptied) == (0.0, 0.0, 0.0, True)
