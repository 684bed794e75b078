"""What theory says a deployment holds: requests at once, saturation, and the safe load with headroom.

Everything here is derived, for requests without prefix hits, and no queue is simulated; requests that the engine
rejects cost nothing and are counted in the rates. The safe load is
the rate at which the 99th percentile of the requests in flight, weighted with the KV cache that they
fill, is what the headroom leaves room for:

- so many requests in flight, each staying as long as a server that always has them takes
  (`saturation`, Little's law), are those that arrived in a window of that time;
- the windows of the recorded arrivals give their mean m and their 99th percentile m + d, bursts included; d is
  at least what independent arrivals would have;
- at f times the rate they are taken as f m + d sqrt(f), as of f independent copies of the load.
"""

from math import ceil, sqrt
from typing import Final

import numpy as np

from vramledger.frozen import frozen
from vramledger.plan.headroom import LONGEST_SHARE, kept_free
from vramledger.plan.requirement import Kind
from vramledger.simulate.groups import RecurrentState, SlidingWindow
from vramledger.simulate.offered import Offered
from vramledger.simulate.saturation import balance_of, held, mix_of, per_s
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost

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
    """What `engines` equal engines hold; `headroom` is as a plan states it, None by kind.

    Zeros where they reject every request.
    """
    mix = mix_of(offered, settings)
    if mix is None:
        return Capacity(0.0, 0.0, kept_free(headroom, kind, 0.0, 1.0), 0.0)
    room = held(settings, mix)
    running = min(room, float(settings.max_num_seqs))
    kept = kept_free(headroom, kind, running, longest_share(offered, settings))

    def rate(at_once: float) -> float:
        return per_s(balance_of(settings, mix, at_once), settings, cost)

    whole = max(int(running), 1)
    safe = min(room * (1 - kept), float(settings.max_num_seqs))
    fitting = _share_in_flight(offered, safe, rate(safe)) if safe > 0 else 0.0
    return Capacity(
        whole * engines,
        rate(running) * engines,
        kept,
        fitting * rate(safe) * engines if fitting else 0.0,
    )


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


def _blocks_of(settings: Settings, growing: float) -> float:
    """Blocks of all groups where a full one takes so many."""
    size = settings.block_size
    return sum(
        min(-(-group.window // size) + 1, growing)
        if isinstance(group, SlidingWindow)
        else (1 if isinstance(group, RecurrentState) else growing)
        for group in settings.groups
    )
