"""What theory says a deployment holds: requests at once, saturation, and the safe load with headroom.

Everything here is derived, for requests of mean lengths without prefix hits. The safe load takes arrivals
as independent: then the requests in flight are about Poisson, whose 99th percentile is its mean plus
2.33 times the root of it, and that percentile is to fit into what the headroom leaves of the KV pool.
Bursts make it less; `vram simulate --knee` simulates it.
"""

from math import sqrt
from typing import Final

import numpy as np

from vramledger.frozen import frozen
from vramledger.plan.headroom import LONGEST_SHARE, kept_free
from vramledger.plan.requirement import Kind
from vramledger.simulate.groups import RecurrentState, SlidingWindow
from vramledger.simulate.offered import Offered
from vramledger.simulate.settings import Settings
from vramledger.simulate.step import Features
from vramledger.simulate.step_cost import StepCost
from vramledger.simulate.theory import (
    StepCost as LinearCost,
)
from vramledger.simulate.theory import (
    kv_feasible_concurrency,
    saturation_requests_per_s,
)

_NORMAL_P99: Final = 2.3263  # of the normal distribution


@frozen
class Capacity:
    """Figures of all engines together; `headroom` is the share of each pool that stays free."""

    concurrency: float  # requests that the pool and the sequence cap let run
    saturation_per_s: float
    headroom: float
    safe_per_s: float


def capacity_of(
    offered: Offered,
    settings: Settings,
    cost: StepCost,
    engines: int,
    *,
    headroom: float | None,
    kind: Kind,
) -> Capacity:
    """What `engines` equal engines hold; `headroom` is as a plan states it, None by kind."""
    prompt = max(round(float(offered.input_tokens.mean())), 1)
    output = max(round(float(offered.output_tokens.mean())), 1)
    room = held(settings, prompt, output)
    running = min(room, float(settings.max_num_seqs))
    kept = kept_free(headroom, kind, running, longest_share(offered, settings))
    safe = _mean_below(min(room * (1 - kept), float(settings.max_num_seqs)))

    def rate(at_once: float) -> float:
        whole = max(int(at_once), 1)
        full = saturation_requests_per_s(_linear(cost, settings, whole), whole, [(prompt, output)])
        return full * min(at_once / whole, 1.0) * engines

    whole = max(int(running), 1)
    return Capacity(whole * engines, rate(whole), kept, rate(safe))


def longest_share(offered: Offered, settings: Settings) -> float:
    """Of one engine's pool, what a request of the 99.9th percentile's tokens takes at its end."""
    tokens = np.quantile(offered.input_tokens + offered.output_tokens, LONGEST_SHARE)
    blocks = -(-int(tokens) // settings.block_size)
    return min(_blocks_of(settings, blocks) / max(settings.num_blocks - 1, 1), 1.0)


def held(settings: Settings, prompt: int, output: int) -> float:
    """Requests with ages spread evenly whose blocks of all groups fill the pool.

    A full group takes what theory says on average; a window its own length, a state one block.
    """
    usable, size = settings.num_blocks - 1, settings.block_size
    alone = kv_feasible_concurrency(usable, size, prompt, output).staggered
    return usable / _blocks_of(settings, usable / alone) if alone else 0.0


def _blocks_of(settings: Settings, growing: float) -> float:
    """Blocks of all groups where a full one takes so many."""
    size = settings.block_size
    return sum(
        min(-(-group.window // size) + 1, growing)
        if isinstance(group, SlidingWindow)
        else (1 if isinstance(group, RecurrentState) else growing)
        for group in settings.groups
    )


def _mean_below(most: float) -> float:
    """The Poisson mean whose 99th percentile is about `most`: m + z sqrt(m) = most."""
    root = (sqrt(_NORMAL_P99**2 + 4 * most) - _NORMAL_P99) / 2
    return root * root


def _linear(cost: StepCost, settings: Settings, running: int) -> LinearCost:
    """The step cost around `running` decodes, as theory takes it."""
    decodes = cost(Features(decode_tokens=running, decode_requests=running))
    budget = settings.token_budget
    prompts = cost(Features(prefill_tokens=budget, prefill_requests=1))
    step = 1 << 20
    context = cost(Features(decode_tokens=1, decode_requests=1, decode_context=step))
    context -= cost(Features(decode_tokens=1, decode_requests=1))
    constant = max(decodes, 1)
    return LinearCost(
        constant_s=constant / 1e9,
        prefill_token_s=max(prompts - constant, 0) / budget / 1e9,
        context_token_s=context / step / 1e9,
    )
