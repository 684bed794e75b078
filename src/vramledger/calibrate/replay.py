"""A measured run's requests through the simulator, at a given step cost."""

import numpy as np

from vramledger.calibrate.observed import Observed
from vramledger.simulate.engines import Arriving, Engine, run_engines
from vramledger.simulate.prefixes import no_prefixes
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost


def replay(
    settings: Settings,
    observed: Observed,
    cost: StepCost,
    *,
    engines: int = 1,
    first_step_ns: int = 0,
) -> tuple[Engine, ...]:
    """The run as it would have gone; requests arrive when they did and share no prefixes.

    Args:
        settings: of the engine's scheduler, with the pool that the run had.
        observed: the requests; only arrivals and lengths are looked at.
        cost: what a step costs.
        engines: data-parallel ones behind a router that goes round.
        first_step_ns: how long after the first arrival the engine begins to work.

    Raises:
        BadInput: settings or costs that no simulator takes.
    """
    arriving = Arriving(
        arrival_ns=np.maximum(observed.arrival_ns, first_step_ns),
        input_tokens=observed.input_tokens,
        output_tokens=observed.output_tokens,
        cancel_after_ns=np.full(len(observed), -1, np.int64),
        prefixes=no_prefixes(len(observed)),
    )
    return run_engines(settings, arriving, cost, engines, seed=0, progress=lambda _, __: None)
