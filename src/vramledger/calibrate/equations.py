"""What a run's stamps say of the prices, one equation a stamp.

A replay tells which step made each first and last token. The moment of that step's end, counted from
when its engine last began to work, is the sum of the features of the steps since then, times their
prices. Features are counted from a replay at other prices than the true ones, so replaying and
solving take turns.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from vramledger.calibrate.observed import ABSENT, Observed
from vramledger.calibrate.terms import features_of
from vramledger.frozen import frozen
from vramledger.simulate.engines import Engine

if TYPE_CHECKING:
    Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
    Integers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
    Truths: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]


@frozen
class Equations:
    """``features @ prices = times``: `features` is ``[equations, terms]``, `times` in ns."""

    features: "Floats"
    times: "Floats"

    def __len__(self) -> int:
        return len(self.times)

    def errors(self, prices: "Floats") -> "Floats":
        """How much later than measured, in ns, each stamp is at such prices."""
        found: Floats = self.features @ prices - self.times
        return found


def equations_of(
    observed: Observed, engines: Sequence[Engine], table: "Floats", until_ns: int
) -> Equations:
    """The equations of all stamps up to that moment.

    First tokens, last tokens, and the time between them of each request that has both.
    """
    parts = [_of_engine(observed, engine, table, until_ns) for engine in engines]
    return Equations(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.times for part in parts]),
    )


def _of_engine(observed: Observed, engine: Engine, table: "Floats", until_ns: int) -> Equations:
    worked = _Worked(engine, table, int(observed.arrival_ns[engine.places].min()))
    records = engine.found.requests
    ends = {}
    for name in ("first_token", "last_token"):
        stamps = getattr(observed, f"{name}_ns")[engine.places]
        steps = records[f"{name}_step"]
        known = (stamps != ABSENT) & (stamps <= until_ns) & (steps >= 0)
        ends[name] = (known, worked.until(steps), worked.measured(steps, stamps))
    (first, had, at), (last, had_last, at_last) = ends.values()
    both = first & last
    return Equations(
        np.concatenate([had[first], had_last[last], (had_last - had)[both]]),
        np.concatenate([at[first], at_last[last], (at_last - at)[both]]),
    )


class _Worked:
    """What an engine had worked by each of its steps since it was last idle.

    At first it is idle until the first of its requests arrives, at `arrived_ns`.
    """

    def __init__(self, engine: Engine, table: "Floats", arrived_ns: int) -> None:
        steps = engine.found.steps
        start, end = steps["start_ns"], steps["end_ns"]
        begins = np.ones(len(steps), np.bool_)
        begins[1:] = start[1:] > end[:-1]
        at = np.maximum.accumulate(np.where(begins, np.arange(len(steps)), 0))
        features = features_of(steps, table)
        summed = np.cumsum(features, axis=0)
        self._features = summed - (summed - features)[at]
        self._began = np.where(at == 0, arrived_ns, start[at])

    def until(self, steps: "Integers") -> "Floats":
        """``[requests, terms]``: the features up to and with these steps."""
        found: Floats = self._features[steps]
        return found

    def measured(self, steps: "Integers", stamps: "Integers") -> "Floats":
        """Nanoseconds from when the engine began to work to these stamps."""
        found: Floats = (stamps - self._began[steps]).astype(np.float64)
        return found
