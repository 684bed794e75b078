"""Figures of the scheduler that were read at one and the same moment: a metrics page, or a step of a simulated engine."""

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vramledger.frozen import frozen

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
    Truths: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]


@frozen
class Moments:
    """Arrays of one length, NaN for what was not told; `weights` say for how long each stands, in any unit.

    `kv_usage` is 0..1. `tokens` are those of the step, `preempted` the requests that it preempted; None where only pages
    were read. `engines` are added up in `running` and `waiting`.
    """

    t_s: "Floats"
    running: "Floats"
    waiting: "Floats"
    kv_usage: "Floats"
    weights: "Floats"
    tokens: "Floats | None" = None
    prefill_tokens: "Floats | None" = None
    preempted: "Floats | None" = None
    engines: float = 1.0

    def share(self, mask: "Truths") -> float:
        """The part of the time in which something held; NaN where nothing was read."""
        whole = float(self.weights.sum())
        return float(self.weights[mask].sum()) / whole if whole > 0 else np.nan

    def mean(self, values: "Floats", mask: "Truths | None" = None) -> float:
        """The mean of values over the time in which the mask holds; NaN where there is none."""
        told = np.isfinite(values) if mask is None else mask & np.isfinite(values)
        whole = float(self.weights[told].sum())
        return float((values * self.weights)[told].sum()) / whole if whole > 0 else np.nan
