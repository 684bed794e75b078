"""TTFT at an end of its own band, beside what slower or faster steps make of it.

Mean TTFT of measured loads was off by more than the step time (predicted over measured 0.59 to 1.33, steps 0.79 to 1.23):
prompts, the front end and the waits between steps have errors of their own. So a request's TTFT at the slow end is the
larger of what slower steps make of it, queue and all, and what is expected times TTFT's own factor; at the fast end the smaller of
both. What comes later ends later, so that E2E moves by as much.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from vramledger.simulate.figures import Figures
from vramledger.simulate.pace import Pace

if TYPE_CHECKING:
    from vramledger.plan.requirement import Contract

_TTFT: Final = "ttft_s"
_E2E: Final = "e2e_s"
_WORSE_OF: Final = {Pace.SLOW: np.maximum, Pace.FAST: np.minimum}


def turns_on_ttft(contract: "Contract | None") -> bool:
    """Whether a limit of the contract is one of TTFT, or has TTFT in it."""
    return contract is not None and not contract.latency.keys().isdisjoint((_TTFT, _E2E))


def with_ttft_band(at_end: Figures, expected: Figures, pace: Pace, factor: float) -> Figures:
    """The figures of a run at an end, TTFT and E2E by the band too; both are of the same requests in one order.

    What failed or has no TTFT in either run stays as it is.
    """
    here, there = at_end.latency[_TTFT], expected.latency[_TTFT] * factor
    known = np.isfinite(here) & np.isfinite(there)
    by_band = _WORSE_OF[pace](here, there, where=known, out=here.copy())
    moved = np.where(known, by_band - np.where(known, here, 0.0), 0.0)
    latency = {**at_end.latency, _TTFT: by_band, _E2E: at_end.latency[_E2E] + moved}
    return replace(at_end, latency=latency)
