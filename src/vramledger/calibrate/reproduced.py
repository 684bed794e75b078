"""How well the simulator, calibrated, goes through the runs that it was calibrated on."""

from typing import Final

import numpy as np

from vramledger.calibrate.accuracy import (
    E2E,
    TPOT,
    TTFT,
    Difference,
    differences,
    kv_usage_at,
    replayed_stamps,
)
from vramledger.calibrate.client_stamps import as_client
from vramledger.calibrate.host_fit import HostFit
from vramledger.calibrate.host_prior import HostPrior
from vramledger.calibrate.recorded import Recorded
from vramledger.calibrate.replay import replay
from vramledger.frozen import frozen
from vramledger.simulate.engines import Engine
from vramledger.simulate.step_cost import StepCost

_FEWEST: Final = 5  # levels without which a mean of differences says nothing


@frozen
class Reproduced:
    """Replayed over measured minus 1 of one run's means; `kv` is the mean absolute difference of the pool's use.

    None where there was nothing to compare.
    """

    requests: int
    ttft: Difference | None
    tpot: Difference | None
    e2e: Difference | None
    kv: float | None
    preemptions: int  # of the replay


def reproduced(run: Recorded, fit: HostFit, prior: HostPrior) -> Reproduced:
    """One run at the fitted prices."""
    prices = {price.name: price.value for price in fit.prices}
    return reproduced_at(run, prior, prices, fit.cost)


def reproduced_at(
    run: Recorded, prior: HostPrior, prices: dict[str, float], cost: StepCost
) -> Reproduced:
    """One run at any prices."""
    observed = run.stamps.observed
    engines = replay(
        run.settings,
        prior.reaching(observed, prices),
        cost,
        engines=run.deployment.layout.dp,
        first_step_ns=prior.first_step_ns(prices),
    )
    found = differences_from_clients(run, engines)
    return Reproduced(
        requests=len(observed),
        ttft=found[TTFT],
        tpot=found[TPOT],
        e2e=found[E2E],
        kv=_kv(run, engines),
        preemptions=sum(int(each.found.requests["preemptions"].sum()) for each in engines),
    )


def differences_from_clients(
    run: Recorded, engines: tuple[Engine, ...]
) -> dict[str, Difference | None]:
    """TTFT and E2E from when the client sent, and TPOT, of all requests."""
    observed = run.stamps.observed
    replayed = as_client(replayed_stamps(observed, engines))
    every = np.ones(len(observed), bool)
    return dict(differences(observed, engines, every, replayed))


def _kv(run: Recorded, engines: tuple[Engine, ...]) -> float | None:
    if run.levels is None or len(run.levels.used) < _FEWEST:
        return None
    used = kv_usage_at(engines, run.settings, run.levels.moments_ns)
    return float(np.abs(used - run.levels.used).mean())
