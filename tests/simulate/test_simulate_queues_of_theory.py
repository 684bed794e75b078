"""The simulator made a queue whose mean wait or throughput theory knows: within 3 standard errors of it."""

import math
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import pytest

from simulated import settings
from vramledger.simulate.engines import Arriving, run_engines
from vramledger.simulate.prefixes import no_prefixes
from vramledger.simulate.step_cost import StepCost, fixed
from vramledger.simulate.theory import (
    LinearCost,
    md1_wait,
    mg1_wait,
    saturation_requests_per_s,
    service_of,
)

Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

REPLICATIONS: Final = 24
CUSTOMERS: Final = 30_000
STEP_S: Final = 0.01
TOKEN_S: Final = 1e-4


def served(
    arrival_ns: Integers, inputs: Integers, outputs: Integers, cost: StepCost, at_once: int
) -> Any:
    """What became of the requests on one engine that has blocks for all that run."""
    count = len(arrival_ns)
    arriving = Arriving(arrival_ns, inputs, outputs, np.full(count, -1), no_prefixes(count))
    engine = settings(
        num_blocks=100_000, max_num_seqs=at_once, token_budget=4096, max_model_len=4096
    )
    (found,) = run_engines(engine, arriving, cost, 1, seed=0, progress=lambda _done, _all: None)
    assert found.compiled
    assert found.found.requests["preemptions"].sum() == 0
    return found.found.requests


def poisson(chance: np.random.Generator, rate: float) -> Integers:
    return np.rint(np.cumsum(chance.exponential(1e9 / rate, CUSTOMERS))).astype(np.int64)


def assert_within_3_errors(expected: float, observed: Sequence[float]) -> None:
    error = float(np.std(observed, ddof=1)) / math.sqrt(len(observed))
    assert error < expected / 20  # or it would say little
    assert abs(float(np.mean(observed)) - expected) <= 3 * error


@pytest.mark.parametrize("utilisation", [0.3, 0.6, 0.8])
def test_requests_of_one_step_wait_as_in_m_d_1(utilisation: float) -> None:
    cost, ones = StepCost(constant=fixed(STEP_S * 1e9)), np.ones(CUSTOMERS, np.int64)
    waits = []
    for seed in range(REPLICATIONS):
        arrival = poisson(np.random.default_rng(seed), utilisation / STEP_S)
        found = served(arrival, 4 * ones, ones, cost, at_once=1)
        waits.append(float((found["scheduled_ns"] - arrival).mean()) / 1e9)
    assert_within_3_errors(md1_wait(utilisation / STEP_S, STEP_S).mean_s, waits)


@pytest.mark.parametrize("utilisation", [0.3, 0.6, 0.8])
def test_requests_of_random_lengths_wait_as_in_m_g_1(utilisation: float) -> None:
    """A request takes as many steps as it has output tokens, the first longer by its prompt."""
    cost = StepCost(constant=fixed(STEP_S * 1e9), prefill_tokens=fixed(TOKEN_S * 1e9))
    inputs, outputs = (50, 1500), (1, 2, 20)
    service = service_of([each * STEP_S + one * TOKEN_S for one in inputs for each in outputs])
    rate, waits = utilisation / service.mean_s, []
    for seed in range(REPLICATIONS):
        chance = np.random.default_rng(seed)
        arrival = poisson(chance, rate)
        lengths = chance.choice(inputs, CUSTOMERS), chance.choice(outputs, CUSTOMERS)
        found = served(arrival, *lengths, cost, at_once=1)
        waits.append(float((found["scheduled_ns"] - arrival).mean()) / 1e9)
    assert_within_3_errors(mg1_wait(rate, service).mean_s, waits)


def test_a_full_engine_serves_what_saturation_says() -> None:
    """All requests are there from the start; counted while the engine is full.

    Theory counts the token itself as context, the simulator what is in the cache before.
    """
    linear = LinearCost(STEP_S, prefill_token_s=TOKEN_S, decode_token_s=3e-4, context_token_s=2e-7)
    cost = StepCost(
        constant=fixed(linear.constant_s * 1e9),
        prefill_tokens=fixed(linear.prefill_token_s * 1e9),
        decode_requests=fixed((linear.decode_token_s + linear.context_token_s) * 1e9),
        decode_context=fixed(linear.context_token_s * 1e9),
    )
    inputs, outputs, at_once, edge = (20, 400), (5, 60, 200), 16, 200
    lengths = [(one, each) for one in inputs for each in outputs]
    rates = []
    for seed in range(REPLICATIONS):
        chance = np.random.default_rng(seed)
        drawn = chance.choice(inputs, 4_000), chance.choice(outputs, 4_000)
        found = served(np.zeros(4_000, np.int64), *drawn, cost, at_once)
        ends = np.sort(found["last_token_ns"])[edge:-edge]
        rates.append((len(ends) - 1) / float(ends[-1] - ends[0]) * 1e9)
    assert_within_3_errors(saturation_requests_per_s(linear, at_once, lengths), rates)
