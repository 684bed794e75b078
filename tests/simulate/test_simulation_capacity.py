"""The safe load of theory: what it does with headroom, bursts and engines."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulated import settings
from vramledger.plan.headroom import kept_free
from vramledger.plan.requirement import Kind
from vramledger.simulate.capacity import Capacity, capacity_of, longest_share
from vramledger.simulate.offered import Offered
from vramledger.simulate.step_cost import StepCost, fixed

COST = StepCost(constant=fixed(10e6))
LARGE: dict[str, Any] = {"num_blocks": 4001, "max_num_seqs": 1000, "token_budget": 4000}


def offered(due_s: "np.ndarray[Any, np.dtype[np.float64]]") -> Offered:
    """Requests of 40 and 40 tokens at these seconds."""
    count = len(due_s)
    whole = np.full(count, 40, np.int64)
    absent = np.full(count, -1, np.int64)
    none = np.zeros(0, np.int64)
    return Offered(
        np.arange(count), np.rint(due_s * 1e9).astype(np.int64), whole, whole, absent, absent, absent, none,
        np.zeros(count, np.int64), 0, 0,
    )  # fmt: skip


def poisson(count: int = 20_000, rate: float = 100.0) -> Offered:
    return offered(np.cumsum(np.random.default_rng(1).exponential(1 / rate, count)))


def capacity(load: Offered, engines: int = 1, headroom: float | None = None) -> Capacity:
    return capacity_of(load, settings(**LARGE), COST, engines, headroom=headroom, kind=Kind.LATENCY)


def test_independent_arrivals_leave_their_own_swings_free() -> None:
    found = capacity(poisson(), headroom=0.0)
    mean = found.safe_per_s * 0.01 * 40  # each stays forty steps
    assert mean + 2.3263 * np.sqrt(mean) == pytest.approx(found.concurrency, rel=0.02)


@given(st.floats(0, 0.6), st.floats(0.1, 0.3))
def test_more_headroom_is_less_load(headroom: float, more: float) -> None:
    """By a tenth of the pool at least: windows of another length cut the same bursts otherwise."""
    load = poisson(2000)
    assert (
        capacity(load, headroom=headroom + more).safe_per_s
        < capacity(load, headroom=headroom).safe_per_s
        < capacity(load, headroom=headroom).saturation_per_s
    )


def test_bursts_make_the_safe_load_less() -> None:
    even = poisson()
    hours = np.sort(np.concatenate([even.due_ns / 1e9, 50 + np.arange(10_000) / 1000]))
    assert capacity(offered(hours)).safe_per_s < 0.7 * capacity(even).safe_per_s


def test_engines_add_up() -> None:
    one, four = capacity(poisson()), capacity(poisson(), engines=4)
    assert four.safe_per_s == pytest.approx(4 * one.safe_per_s)
    assert four.concurrency == 4 * one.concurrency


def test_the_longest_request_is_a_share_of_the_pool() -> None:
    assert longest_share(poisson(), settings(**LARGE)) == 20 / 4000
    assert longest_share(poisson(), settings(num_blocks=11)) == 1.0


@pytest.mark.parametrize(
    ("asked", "kind", "in_flight", "longest", "kept"),
    [
        (0.4, Kind.LATENCY, 2, 0.9, 0.4),
        (None, Kind.LATENCY, 100, 0.9, 0.25),
        (None, Kind.LATENCY, 2, 0.9, 0.9),
        (None, Kind.LATENCY, 2, 0.1, 0.25),
        (None, Kind.THROUGHPUT, 2, 0.9, 0.1),
    ],
)
def test_what_is_kept_free_is_what_was_asked_or_goes_by_kind(
    asked: float | None, kind: Kind, in_flight: float, longest: float, kept: float
) -> None:
    assert kept_free(asked, kind, in_flight, longest) == kept
