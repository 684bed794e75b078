"""The search on the scheduler itself, made a queue M/D/1 whose wait theory knows."""

from math import sqrt
from typing import Final

import numpy as np
import pytest

from simulated import settings
from vramledger.methods.knee.find import find_knee
from vramledger.methods.knee.probes import Probes
from vramledger.methods.subject import Check, Figures, Observation, Range
from vramledger.simulate.engines import Arriving, run_engines
from vramledger.simulate.prefixes import no_prefixes
from vramledger.simulate.step_cost import StepCost, fixed
from vramledger.simulate.theory import md1_wait

_SERVICE_S: Final = 0.01  # one step a request, one request a step
_REQUESTS: Final = 60_000
_MOST_WAIT_S: Final = 0.01  # reached where rho / (2 (1 - rho)) = 1, at rho = 2/3


class Queue:
    """Poisson arrivals at the level's requests a second; the contract limits the mean wait."""

    range = Range(start=10.0, lowest=0.1, highest=1000.0)

    def repeats(self, _level: float) -> bool:
        return True

    def play(self, level: float, attempt: int) -> Observation:
        waits, stays = simulated(level, attempt)
        return Observation(
            level=level,
            seed=attempt,
            contract=(Check("mean wait", f"{waits:g}", waits <= _MOST_WAIT_S),),
            headroom=(),
            figures=Figures(level, min(level, 1 / _SERVICE_S), e2e_mean_s=stays),
            took_s=0.0,
        )


def simulated(rate: float, seed: int) -> tuple[float, float]:
    """Mean seconds in the queue and in the system."""
    draws = np.random.default_rng(seed).exponential(1e9 / rate, _REQUESTS)
    arrivals = np.rint(np.cumsum(draws)).astype(np.int64)
    ones = np.ones(_REQUESTS, np.int64)
    arriving = Arriving(arrivals, 4 * ones, ones, -ones, no_prefixes(_REQUESTS))
    engine = settings(max_num_seqs=1)
    cost = StepCost(constant=fixed(_SERVICE_S * 1e9))
    (found,) = run_engines(engine, arriving, cost, 1, seed=0, progress=lambda _done, _all: None)
    requests = found.found.requests
    waits = (requests["scheduled_ns"] - arrivals[found.places]).mean() / 1e9
    return float(waits), float(waits) + _SERVICE_S


def test_the_knee_is_where_the_closed_forms_say() -> None:
    knee = find_knee(Probes(Queue(), lambda _done, _of_all: None))
    held, failed = knee.contract.held, knee.contract.failed
    assert held is not None
    assert failed is not None
    end = 2 / 3 / _SERVICE_S
    assert md1_wait(end, _SERVICE_S).mean_s == pytest.approx(_MOST_WAIT_S)
    assert held.level < end * 1.02
    assert failed.level > end * 0.98
    assert failed.level < held.level * 1.1
    curve = knee.curve
    assert curve is not None
    assert curve.below is not None
    assert curve.above is not None
    assert curve.below.level < (2 - sqrt(2)) / _SERVICE_S < curve.above.level
