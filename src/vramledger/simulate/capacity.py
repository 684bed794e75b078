"""What theory says a deployment holds: requests at once, saturation, and the safe load with headroom.

Everything here is derived, for requests without prefix hits, and no queue is simulated. The safe load is
the rate at which the 99th percentile of the requests in flight, weighted with the KV cache that they
fill, is what the headroom leaves room for:

- so many requests in flight, each staying as long as a server that always has them takes
  (`theory.saturation_requests_per_s`, Little's law), are those that arrived in a window of that time;
- the windows of the recorded arrivals give their mean m and their 99th percentile m + d, bursts included; d is
  at least what independent arrivals would have;
- at f times the rate they are taken as f m + d sqrt(f), as of f independent copies of the load.
"""

from collections.abc import Callable
from math import ceil, sqrt
from typing import Final

import numpy as np

from vramledger.frozen import frozen
from vramledger.plan.headroom import LONGEST_SHARE, kept_free
from vramledger.plan.requirement import Kind
from vramledger.simulate.drafting import decode_steps
from vramledger.simulate.groups import RecurrentState, SlidingWindow
from vramledger.simulate.offered import Offered
from vramledger.simulate.settings import Settings
from vramledger.simulate.step import Features
from vramledger.simulate.step_cost import StepCost
from vramledger.simulate.theory import (
    LinearCost,
    kv_feasible_concurrency,
    saturation_requests_per_s,
)

_P99: Final = 0.99
_NORMAL_P99: Final = 2.3263  # standard deviations above the mean


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

    def rate(at_once: float) -> float:
        return saturation_per_s(settings, cost, at_once, prompt, output)

    whole = max(int(running), 1)
    safe = min(room * (1 - kept), float(settings.max_num_seqs))
    fitting = _share_in_flight(offered, safe, rate(safe))
    return Capacity(whole * engines, rate(whole) * engines, kept, fitting * rate(safe) * engines)


def saturation_per_s(
    settings: Settings,
    cost: Callable[[Features], int],
    at_once: float,
    prompt: int,
    output: int,
) -> float:
    """Requests a second of one engine that always has `at_once` of them, all of these tokens.

    `cost` is nanoseconds of a step by its features.
    """
    stages = settings.pipeline_stages  # each has a step of its own
    whole = max(int(at_once / stages), 1)
    lengths = [(prompt, decode_steps(settings, output))]
    full = saturation_requests_per_s(_linear(cost, settings, whole), whole, lengths) * stages
    return full * min(at_once / stages / whole, 1.0)


def _share_in_flight(offered: Offered, most: float, per_s: float) -> float:
    """The mean number in flight at which its 99th percentile is `most`, as a share of `most`.

    `per_s` are the requests a second that `most` of them in flight are served at.
    """
    if not most > 0:
        return 0.0
    window_ns = max(most / per_s * 1e9, 1.0)
    held_for = offered.output_tokens * (offered.input_tokens + offered.output_tokens / 2)
    weights = held_for / held_for.mean()
    places = ((offered.due_ns - offered.due_ns[0]) // window_ns).astype(np.int64)
    windows = int(places[-1]) + 1
    mean = len(offered) / windows
    independent = _NORMAL_P99 * sqrt(mean * float((weights * weights).mean()))
    above = max(_p99(places, weights, windows) - mean, independent)
    root = (sqrt(above * above + 4 * mean * most) - above) / (2 * mean)
    return min(root * root * mean / most, 1.0)


def _p99(
    places: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    weights: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    windows: int,
) -> float:
    """The 99th percentile of the weights' sums over all windows, empty ones too."""
    present = np.sort(np.bincount(np.unique(places, return_inverse=True)[1], weights=weights))
    place = ceil(_P99 * windows) - 1 - (windows - len(present))
    return float(present[place]) if place >= 0 else 0.0


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


def _linear(cost: Callable[[Features], int], settings: Settings, running: int) -> LinearCost:
    """The step cost around `running` decodes, as theory takes it."""
    rows = 1 + settings.drafts
    decodes = cost(Features(decode_tokens=running * rows, decode_requests=running))
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
