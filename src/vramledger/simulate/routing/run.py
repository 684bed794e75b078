"""A load on equal engines that depend on each other: through their router, or through their clients."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from vramledger.frozen import frozen
from vramledger.simulate.fast.engine import FastEngine
from vramledger.simulate.fast.load import Load
from vramledger.simulate.fast.records import FastOutcome
from vramledger.simulate.routing.clocks import Clocks
from vramledger.simulate.routing.closed_loop import ClosedLoop
from vramledger.simulate.routing.dispatch import Dispatch
from vramledger.simulate.routing.engine import engines_for
from vramledger.simulate.routing.open_loop import send_all
from vramledger.simulate.routing.registry import router_for
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost

if TYPE_CHECKING:
    from vramledger.simulate.routing.clients import Integers


@frozen
class RoutedRun:
    """By engine: which requests it got, in the order in which they were sent, and what became of them.

    `sent_ns` is by place, None where the arrivals were given.
    """

    places: Sequence[Sequence[int]]
    found: Sequence[FastOutcome]
    sent_ns: "Integers | None"
    compiled: bool


def run_routed(
    settings: Settings,
    load: Load,
    cost: StepCost,
    engines: int,
    clocks: Clocks,
    *,
    router: str,
    seed: int,
    told: Callable[[int], None],
) -> RoutedRun:
    """Simulate so many engines behind a router of that name, compiled where that is possible.

    `told` is given how many requests have ended.
    """
    many = engines_for(settings, load, cost, engines, seed=seed, stops=clocks.closed is not None)
    dispatch = Dispatch(many, router_for(router, engines, seed), load, settings.block_size)
    sent = None
    if clocks.closed is None:
        send_all(dispatch, clocks.arrivals, told)
    else:
        loop = ClosedLoop(dispatch, clocks.front_ns, clocks.closed)
        loop.run(told)
        sent = loop.sent_ns
    found = [engine.finish() for engine in many]
    return RoutedRun(dispatch.places, found, sent, compiled=isinstance(many[0], FastEngine))
