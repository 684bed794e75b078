"""How fast the steps of a simulation are: as expected, or at an end of the band of the step times.

The band is what predicted over measured TPOT did in groups that were left out of the fit (`timing.bands`), the
wider of loads that wait and loads that do not, and wider still outside what was measured. A simulation at the slow end
takes the high end of it as a factor on every step; what the server's front takes stays as it is. TTFT was off by more than
steps are, so that it has factors of its own beside (`ttft_band`).
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from enum import StrEnum
from typing import Final

from vramledger.frozen import frozen
from vramledger.simulate.step_cost import StepCost
from vramledger.simulate.timing.bands import Region
from vramledger.simulate.timing.coefficients import Band, Fit

_TABLE: Final = "by_tokens"


class Pace(StrEnum):
    """Which end of the band the step times are taken from."""

    SLOW = "slow"
    EXPECTED = "expected"
    FAST = "fast"


@frozen
class Paces:
    """Factors on the expected step times: `fast` at most 1, `slow` at least 1; nine of ten true ones lie between."""

    fast: float
    slow: float
    ttft_fast: float = 1.0  # the same of TTFT, as the bands of measured loads have it
    ttft_slow: float = 1.0

    def of(self, pace: Pace) -> float:
        """The factor of a pace."""
        return {Pace.SLOW: self.slow, Pace.EXPECTED: 1.0, Pace.FAST: self.fast}[pace]

    def of_ttft(self, pace: Pace) -> float:
        """The factor of a pace on TTFT as expected."""
        return {Pace.SLOW: self.ttft_slow, Pace.EXPECTED: 1.0, Pace.FAST: self.ttft_fast}[pace]


def paces_of(fit: Fit, around: Region) -> Paces:
    """The factors for a deployment of that region; both ends hold whether its load waits or not."""
    steps = _factors((fit.tpot, fit.tpot_waiting), around)
    return Paces(*steps, *_factors((fit.ttft, fit.ttft_waiting), around))


def _factors(bands: Sequence[Band], around: Region) -> tuple[float, float]:
    """On the fast and on the slow side, of the widest of the bands, which are of predicted over measured."""
    fast = 1 / max(band.high for band in bands)
    slow = 1 / min(band.low for band in bands)
    return min(fast**around.widening, 1.0), max(slow**around.widening, 1.0)


def at_pace(cost: StepCost, factor: float) -> StepCost:
    """The cost of steps that take `factor` times as long; unchanged at 1."""
    if factor == 1:
        return cost
    terms = {
        field.name: round(getattr(cost, field.name) * factor)
        for field in fields(cost)
        if field.name != _TABLE
    }
    return replace(cost, by_tokens=tuple(round(each * factor) for each in cost.by_tokens), **terms)
