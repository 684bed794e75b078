"""What limits each step: what keeps requests waiting, else what the step itself waits for.

A step in which requests wait is held by the KV cache, the sequence cap or the token budget; more of that
limit lets more of them run, until the physical limit beneath it is reached. In a step in which nobody
waits, the physical limit is the only one. A budget that is spent while preempted requests compute again
(`recovering`) is spent for want of KV cache.
"""

from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from vramledger.frozen import frozen
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_limits import PHYSICAL, PhysicalLimits

if TYPE_CHECKING:
    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

KV: Final = "kv_cache"
SEQUENCES: Final = "sequence_cap"
TOKENS: Final = "token_budget"
BATCH: Final = "batch"  # requests wait for a static batch to end
IDLE: Final = "idle"
HOLDING: Final = (KV, SEQUENCES, TOKENS, BATCH)  # what may keep requests waiting
_NOBODY: Final = -1


@frozen
class Binding:
    """Shares of the time of all engines, 0..1.

    `shares` has every limit and idle time and adds up to 1; `beneath` splits the share of each limit
    that keeps requests waiting by the physical limit of its steps.
    """

    shares: dict[str, float]
    beneath: dict[str, dict[str, float]]


def binding_of(
    steps: "Array",
    lasted: "Array",
    idle: float,
    settings: Settings,
    physical: PhysicalLimits,
    *,
    recovers: "Array | None" = None,
    batched: bool = False,
) -> Binding:
    """The shares of steps that lasted so long each, and of so much idle time.

    `recovers` tells the steps in which a preempted request has not got back to where it was (`recovering`), None
    for no step. `batched` is whether static batches were served, in which requests wait for a batch alone.
    """
    recovers = np.zeros(len(steps), np.bool_) if recovers is None else recovers
    held = _batched(steps) if batched else _holding(steps, recovers, settings)
    limit = physical.of(steps)
    whole = max(float(lasted.sum()) + idle, 1.0)

    def share(mask: "Array") -> float:
        return float(lasted[mask].sum()) / whole

    shares = {name: share(held == place) for place, name in enumerate(HOLDING)}
    free = held == _NOBODY
    shares |= {name: share(free & (limit == place)) for place, name in enumerate(PHYSICAL)}
    beneath = {
        name: {
            below: share((held == place) & (limit == number))
            for number, below in enumerate(PHYSICAL)
        }
        for place, name in enumerate(HOLDING)
    }
    return Binding({**shares, IDLE: idle / whole}, beneath)


def _batched(steps: "Array") -> "Array":
    found: Array = np.where(steps["waiting"] > 0, HOLDING.index(BATCH), _NOBODY)
    return found


def _holding(steps: "Array", recovers: "Array", settings: Settings) -> "Array":
    """For each step the place in `HOLDING` of what kept requests waiting, or `_NOBODY`."""
    budget = min(settings.scheduled_tokens or settings.token_budget, settings.token_budget)
    waits, short = steps["waiting"] > 0, steps["preempted"] > 0
    spent = steps["prefill_tokens"] + steps["decode_tokens"] >= budget
    full = steps["running"] >= settings.max_num_seqs
    kv, sequences, tokens = (HOLDING.index(name) for name in (KV, SEQUENCES, TOKENS))
    found: Array = np.select(
        [short, waits & spent & recovers, waits & spent, waits & full, waits],
        [kv, kv, tokens, sequences, kv],
        _NOBODY,
    )
    return found
