"""The routers by name."""

from collections.abc import Callable
from typing import Final

from vramledger.errors import UnknownName
from vramledger.simulate.routing.least_loaded import LeastLoaded
from vramledger.simulate.routing.prefix_aware import PrefixAware
from vramledger.simulate.routing.round_robin import RoundRobin
from vramledger.simulate.routing.router import Router

ROUND_ROBIN: Final = "round-robin"
LEAST_LOADED: Final = "least-loaded"
PREFIX_AWARE: Final = "prefix-aware"
ROUTERS: Final[dict[str, Callable[[int, int], Router]]] = {
    ROUND_ROBIN: lambda engines, _seed: RoundRobin(engines),
    LEAST_LOADED: lambda engines, seed: LeastLoaded(engines, seed=seed),
    PREFIX_AWARE: lambda engines, seed: PrefixAware(engines, seed=seed),
}


def router_for(name: str, engines: int, seed: int) -> Router:
    """A router of that name for so many engines; raises `UnknownName`."""
    if name not in ROUTERS:
        raise UnknownName("router", name, ROUTERS)
    return ROUTERS[name](engines, seed)
