"""KV use, running and waiting over time, and what limits."""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen
from vramledger.simulate.binding import IDLE as IDLE  # noqa: PLC0414 - also found here
from vramledger.simulate.binding import binding_of
from vramledger.simulate.joined_rows import all_rows
from vramledger.simulate.percentiles import Percentiles, weighted
from vramledger.simulate.recovering import recovering
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_limits import PhysicalLimits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vramledger.simulate.engines import Engine

    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_LAST_PART: Final = 0.9  # of the time in which requests arrive; the queue must be empty after it


@frozen
class Levels:
    """Percentiles over time, idle time included; `binding` and `beneath` as in `binding.Binding`."""

    kv_usage: Percentiles
    running: Percentiles
    waiting: Percentiles
    binding: dict[str, float]
    beneath: dict[str, dict[str, float]]
    in_system: float  # requests running or waiting, mean over time, of all engines together
    span_s: float  # from the first arrival to the last step


def levels_of(
    engines: "Sequence[Engine]",
    settings: Settings,
    physical: PhysicalLimits,
    *,
    batched: bool = False,
) -> Levels:
    """The levels of a run; each step counts for as long as it took."""
    steps = all_rows([engine.found.steps for engine in engines])
    lasted = (steps["end_ns"] - steps["start_ns"]).astype(np.float64)
    span = max(int(engine.found.end_ns) for engine in engines)
    idle = max(float(span) * len(engines) - lasted.sum(), 0.0)
    usable = max(settings.num_blocks - 1, 1)
    recovers = np.concatenate([recovering(engine) for engine in engines])
    binding = binding_of(
        steps, lasted, idle, settings, physical, recovers=recovers, batched=batched
    )
    present = steps["running"] + steps["waiting"]
    return Levels(
        kv_usage=_over_time(steps["used_blocks"], lasted, idle, usable),
        running=_over_time(steps["running"], lasted, idle),
        waiting=_over_time(steps["waiting"], lasted, idle),
        binding=binding.shares,
        beneath=binding.beneath,
        in_system=float((present * lasted).sum()) / max(float(span), 1.0),
        span_s=span / 1e9,
    )


def _over_time(counts: "Array", lasted: "Array", idle: float, whole: int = 1) -> Percentiles:
    """Of counts as parts of a whole; nothing is held while an engine is idle."""
    time_at = np.bincount(counts, weights=lasted, minlength=1).astype(np.float64)
    time_at[0] += idle
    return weighted(np.arange(len(time_at), dtype=np.float64) / whole, time_at)


def drains(engines: "Sequence[Engine]", last_arrival_ns: int) -> bool:
    """Whether every engine's queue is empty at some moment of the last tenth of the arrivals' time.

    What a queue does after arrivals have ended says nothing: then every queue drains.
    """
    return all(_drains(engine, last_arrival_ns) for engine in engines)


def _drains(engine: "Engine", last_ns: int) -> bool:
    steps, start = engine.found.steps, int(last_ns * _LAST_PART)
    if engine.found.stuck:
        return False
    at = np.flatnonzero((steps["end_ns"] >= start) & (steps["start_ns"] <= last_ns))
    if not len(at) or (steps["waiting"][at] == 0).any():
        return True
    ends = np.append(start, steps["end_ns"][at])[:-1]
    return bool((steps["start_ns"][at][1:] > ends[1:]).any())
