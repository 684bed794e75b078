"""The formulas agree with small simulations that share nothing with them, within 3 standard errors."""

import heapq
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vramledger.errors import BadInput
from vramledger.simulate.multi_server import _spitzer_sum, mdc_wait, mgc_wait, mmc_wait
from vramledger.simulate.theory import (
    LinearCost,
    Service,
    exponential,
    fixed,
    kv_feasible_concurrency,
    little_residual,
    md1_wait,
    mg1_wait,
    saturation_rate_per_s,
    saturation_requests_per_s,
    service_of,
    token_ceiling,
)

Draw = Callable[[np.random.Generator, int], "np.ndarray[tuple[int], np.dtype[np.float64]]"]
REPLICATIONS, CUSTOMERS, WARM_UP = 30, 6_000, 2_000
COUNTS = st.integers(1, 5_000)


def simulated_waits(rate: float, draw: Draw, servers: int) -> list[float]:
    """Mean waits of independent runs of a queue of `servers`, by the moments servers come free."""
    means = []
    for seed in range(REPLICATIONS):
        chance = np.random.default_rng(seed)
        arrivals = np.cumsum(chance.exponential(1 / rate, CUSTOMERS)).tolist()
        services = draw(chance, CUSTOMERS).tolist()
        free, waits = [0.0] * servers, []
        for arrival, service in zip(arrivals, services, strict=True):
            begin = max(arrival, free[0])
            heapq.heapreplace(free, begin + service)
            waits.append(begin - arrival)
        means.append(float(np.mean(waits[WARM_UP:])))
    return means


def assert_within_3_errors(expected: float, observed: list[float]) -> None:
    error = float(np.std(observed, ddof=1)) / math.sqrt(len(observed))
    assert abs(float(np.mean(observed)) - expected) <= 3 * error


def constant(seconds: float) -> Draw:
    return lambda _chance, count: np.full(count, seconds)


@pytest.mark.parametrize("utilisation", [0.3, 0.6, 0.8])
def test_md1_waits_as_simulated(utilisation: float) -> None:
    wait = md1_wait(utilisation / 0.5, 0.5)
    assert wait.how == "M/G/1, exact (Pollaczek-Khinchine)"
    assert_within_3_errors(wait.mean_s, simulated_waits(utilisation / 0.5, constant(0.5), 1))


@pytest.mark.parametrize("utilisation", [0.3, 0.6, 0.8])
def test_mg1_waits_as_simulated_with_two_kinds_of_requests(utilisation: float) -> None:
    short, long, share = 0.2, 2.0, 0.1
    mean = (1 - share) * short + share * long
    service = Service(mean, (1 - share) * short**2 + share * long**2)
    observed = simulated_waits(
        utilisation / mean,
        lambda chance, count: np.where(chance.random(count) < share, long, short),
        1,
    )
    assert_within_3_errors(mg1_wait(utilisation / mean, service).mean_s, observed)


@pytest.mark.parametrize(("servers", "utilisation"), [(2, 0.6), (4, 0.8), (8, 0.9)])
def test_mdc_waits_as_simulated(servers: int, utilisation: float) -> None:
    rate = utilisation * servers
    wait = mdc_wait(rate, 1.0, servers)
    assert wait.how == "M/D/c, exact series (Spitzer, Crommelin)"
    assert_within_3_errors(wait.mean_s, simulated_waits(rate, constant(1.0), servers))


@pytest.mark.parametrize(("servers", "utilisation"), [(1, 0.5), (3, 0.7)])
def test_mmc_waits_as_simulated(servers: int, utilisation: float) -> None:
    rate = utilisation * servers
    observed = simulated_waits(rate, lambda chance, count: chance.exponential(1.0, count), servers)
    assert_within_3_errors(mmc_wait(rate, 1.0, servers).mean_s, observed)


@given(st.floats(0.01, 0.95), st.floats(1e-3, 1e3))
def test_the_series_of_mdc_is_pollaczek_khinchine_for_one_server(load: float, time: float) -> None:
    assert _spitzer_sum(load / time, time, 1) == pytest.approx(md1_wait(load / time, time).mean_s)


@pytest.mark.parametrize("servers", [2, 8, 64])
def test_series_and_approximation_of_mdc_meet_where_one_takes_over(servers: int) -> None:
    below, above = (mdc_wait(load * servers, 1.0, servers) for load in (0.99, 0.990001))
    assert above.how == "M/D/c, approximation (Cosmetatos)"
    assert above.mean_s == pytest.approx(below.mean_s, rel=0.01)


@given(st.integers(1, 50), st.floats(0.05, 0.95))
def test_more_variable_times_wait_longer(servers: int, load: float) -> None:
    rate = load * servers
    steady, variable = (mgc_wait(rate, each(1.0), servers) for each in (fixed, exponential))
    assert variable.mean_s == pytest.approx(2 * steady.mean_s)
    assert variable.mean_s == pytest.approx(mmc_wait(rate, 1.0, servers).mean_s)


@given(st.floats(1, 1e9), st.integers(1, 50))
def test_a_queue_offered_more_than_it_serves_is_called_infinite(load: float, servers: int) -> None:
    rate = load * servers
    for wait in (
        mdc_wait(rate, 1.0, servers),
        mmc_wait(rate, 1.0, servers),
        mgc_wait(rate, exponential(1.0), servers),
    ):
        assert wait.mean_s == math.inf
        assert not wait.bounded
    assert mg1_wait(1.2, fixed(1.0)).how == (
        "infinite: a utilisation of 1.2 is not below 1, and the queue grows without bound"
    )


def test_observed_times_give_their_moments() -> None:
    service = service_of([1.0, 3.0])
    assert service == Service(2.0, 5.0)
    assert service.variability == pytest.approx(0.25)
    assert saturation_rate_per_s(service, 4) == pytest.approx(2.0)


COST = LinearCost(0.02, prefill_token_s=2e-4, decode_token_s=1e-4, context_token_s=1e-6)


def stepped_rate(running: int, seed: int) -> float:
    """Requests a second of an engine stepped token by token, always full."""
    chance = np.random.default_rng(seed)

    def fresh() -> list[int]:
        return [int(chance.integers(10, 400)), int(chance.integers(1, 120)), 0]

    requests = [fresh() for _ in range(running)]
    finished, clock, began = 0, 0.0, 0.0
    for step in range(2_600):
        if step == 600:
            finished, began = 0, clock
        clock += COST.constant_s
        for place, request in enumerate(requests):
            prompt, output, done = request
            if done == 0:
                clock += COST.prefill_token_s * prompt
            else:
                clock += COST.decode_token_s + COST.context_token_s * (prompt + done)
            request[2] += 1
            if request[2] == output:
                finished += 1
                requests[place] = fresh()
    return finished / (clock - began)


def test_an_engine_that_is_always_full_serves_as_many_as_derived() -> None:
    lengths = [(prompt, output) for prompt in range(10, 400, 3) for output in range(1, 120)]
    derived = saturation_requests_per_s(COST, 12, lengths)
    assert_within_3_errors(derived, [stepped_rate(12, seed) for seed in range(12)])


def test_littles_law_leaves_nothing_from_empty_to_empty() -> None:
    arrivals, departures = np.array([0.0, 1.0, 4.0]), np.array([2.0, 5.0, 6.0])
    times_s = departures - arrivals
    span = 6.0
    in_system = times_s.sum() / span
    assert little_residual(in_system, 3 / span, times_s.mean()) == pytest.approx(0)


def test_littles_law_shows_a_queue_that_is_left_over() -> None:
    assert little_residual(10.0, 2.0, 4.0) == pytest.approx(0.2)


@given(COUNTS, st.integers(1, 64), st.integers(1, 900), st.integers(1, 300))
def test_kv_concurrency_counts_blocks_step_by_step(
    blocks: int, block: int, prompt: int, output: int
) -> None:
    held = [math.ceil((prompt + done) / block) for done in range(output)]
    found = kv_feasible_concurrency(blocks, block, prompt, output)
    assert found.at_peak == blocks // held[-1]
    fits = held[-1] <= blocks
    assert found.staggered == pytest.approx(blocks / (sum(held) / output) if fits else 0.0)
    assert found.at_peak <= found.staggered
    assert found.at_peak * (prompt + output - 1) <= token_ceiling(blocks, block)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: md1_wait(0, 1), "The arrival rate is 0; it must be a number above 0."),
        (lambda: md1_wait(-2.5, 1), "The arrival rate is -2.5; it must be a number above 0."),
        (lambda: md1_wait(math.nan, 1), "The arrival rate is nan; it must be a number above 0."),
        (lambda: md1_wait(1, 0), "The mean service time is 0; it must be a number above 0."),
        (
            lambda: mdc_wait(1, 1, 0),
            "The number of servers is 0; it must be a whole number from 1.",
        ),
        (
            lambda: Service(2.0, 1.0),
            (
                "The second moment of the service time is 1 s2, and no time with mean 2 s has one below 4 "
                "s2; give E[S^2], not a variance."
            ),
        ),
        (
            lambda: service_of([]),
            "Service times are at least one number, none below 0; give those observed.",
        ),
        (
            lambda: saturation_requests_per_s(COST, 4, [(10, 0)]),
            "Requests have an input and an output of 1 token or more; give such lengths.",
        ),
        (
            lambda: LinearCost(0.01, -1.0),
            "A token adds 0 s or more to a step; give times that are not below 0.",
        ),
        (
            lambda: kv_feasible_concurrency(0, 16, 1, 1),
            "The number of blocks is 0; it must be a whole number from 1.",
        ),
        (
            lambda: little_residual(0.0, 1.0, 1.0),
            "The mean number in the system is 0; it must be a number above 0.",
        ),
    ],
)
def test_nonsense_is_refused_in_a_sentence(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(BadInput) as refused:
        ask()
    assert str(refused.value) == message
