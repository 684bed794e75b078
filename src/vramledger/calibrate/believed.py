"""What a fit needs to know before it looks at a run."""

from collections.abc import Mapping
from typing import Protocol

from vramledger.calibrate.observed import Observed
from vramledger.simulate.step_cost import StepCost


class Believed(Protocol):
    """Prices by term with how far each may be off, and what they make of a step and of an arrival."""

    @property
    def prices(self) -> Mapping[str, float]:
        """What is believed, in the order of the terms."""

    @property
    def spreads(self) -> Mapping[str, float]:
        """One deviation of each, above 0."""

    @property
    def least_deviation(self) -> float:
        """What a time of 1 ns deviates by at least, as the form of the step cost is not the host's own."""

    def cost(self, prices: Mapping[str, float]) -> StepCost:
        """The step cost at such prices."""

    def first_step_ns(self, prices: Mapping[str, float]) -> int:
        """How long after the first arrival the engine begins to work."""

    def reaching(self, observed: Observed, prices: Mapping[str, float]) -> Observed:
        """The requests as they reach the engine."""
