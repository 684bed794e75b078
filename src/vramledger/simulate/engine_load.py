"""One engine's part of a load, and a way to serve it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from vramledger.frozen import frozen
from vramledger.simulate.fast.load import Load
from vramledger.simulate.fast.records import FastOutcome
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost

if TYPE_CHECKING:
    import numpy as np

    Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]


@frozen
class EngineLoad:
    """The requests of one engine in the order of arrival, known in advance."""

    number: int  # of the engine
    settings: Settings
    load: Load
    places: "Integers"  # of its requests among all
    cost: StepCost
    seed: int
    advance: Callable[[int], None]  # is told how many requests have ended


Serve = Callable[[EngineLoad], FastOutcome]
