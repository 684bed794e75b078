"""A load on a prefill and a decode pool."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from vramledger.errors import CannotKnow
from vramledger.frozen import frozen
from vramledger.simulate.fast.load import Load
from vramledger.simulate.fast.records import RECORD, FastOutcome
from vramledger.simulate.groups import FullAttention
from vramledger.simulate.numbering import numbered
from vramledger.simulate.routing.clocks import Clocks
from vramledger.simulate.routing.dispatch import Dispatch
from vramledger.simulate.routing.registry import router_for
from vramledger.simulate.settings import Settings
from vramledger.simulate.split.engine import SplitEngine
from vramledger.simulate.split.link import Link, Ports
from vramledger.simulate.split.merged import Share, answer_share, prompt_share
from vramledger.simulate.split.pool import Pool
from vramledger.simulate.split.serving import SplitServing, Transfer
from vramledger.simulate.step_cost import StepCost

if TYPE_CHECKING:
    from vramledger.simulate.fast.load import Rows
    from vramledger.simulate.routing.clients import Integers


@frozen
class Split:
    """How many servers compute prompts, and the link over which caches go.

    `bytes_per_block` counts all GPUs of a server; 0 before the deployment is known.
    """

    prefill: int
    link: Link
    bytes_per_block: int = 0


@frozen
class SplitRun:
    """What each server did, prefill servers first; `sent_ns` by place, None where arrivals were given."""

    shares: tuple[Share, ...]
    transfers: tuple[Transfer, ...]
    sent_ns: "Integers | None"


def run_split(
    settings: Settings,
    load: Load,
    cost: StepCost,
    split: Split,
    decode: int,
    clocks: Clocks,
    *,
    router: str,
    seed: int,
    told: Callable[[int], None],
) -> SplitRun:
    """Simulate both pools step by step, `decode` engines in the second; each pool has a router of that name.

    Raises:
        CannotKnow: windows or recurrent states, whose transfer is not simulated.
    """
    _refuse(settings)
    many = [SplitEngine(Pool.PREFILL, settings, load, cost, seed) for _ in range(split.prefill)]
    many += [SplitEngine(Pool.DECODE, settings, load, cost, seed) for _ in range(decode)]
    first, second = many[: split.prefill], many[split.prefill :]
    serving = SplitServing(
        many,
        Dispatch(first, router_for(router, len(first), seed), load, settings.block_size),
        Dispatch(second, router_for(router, len(second), seed), load, settings.block_size),
        Ports(split.link, split.bytes_per_block, len(many)),
        load,
    )
    sent = None
    if clocks.closed is None:
        serving.run_open(clocks.arrivals, told)
    else:
        sent = serving.run_closed(clocks.front_ns, clocks.closed, told)
    found = [numbered(engine.finish()) for engine in many]
    return SplitRun(_shares(serving, found, len(load.asked)), tuple(serving.transfers), sent)


def _shares(serving: SplitServing, found: list[FastOutcome], total: int) -> tuple[Share, ...]:
    prompts: Rows = np.zeros(total, RECORD)
    shares = []
    for engine, outcome in zip(serving.engines, found, strict=True):
        if engine.pool is Pool.PREFILL:
            prompts[np.array(engine.places, np.int64)] = outcome.requests
            shares.append(prompt_share(engine.places, outcome, serving.kept))
        else:
            shares.append(answer_share(engine.places, outcome, prompts))
    return tuple(shares)


def _refuse(settings: Settings) -> None:
    if any(not isinstance(one, FullAttention) for one in settings.groups):
        raise CannotKnow(
            "How sliding windows and recurrent states are sent from a prefill to a decode server is not "
            "simulated; models with full attention only are."
        )
