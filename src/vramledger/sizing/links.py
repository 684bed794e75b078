"""Which server holds a replica, and what joins its GPUs."""

from math import ceil

from vramledger.engine.setting import Layout
from vramledger.evidence import Basis
from vramledger.hardware.accelerator import Accelerator
from vramledger.hardware.server import server_for, servers
from vramledger.sizing.candidate import Link


def link_for(accelerator: Accelerator, layout: Layout) -> Link | None:
    """The smallest server, or several of the largest for stages; None where ranks do not fit."""
    largest = servers(accelerator)[-1].gpus
    if layout.tp > largest:
        return None
    server = server_for(accelerator, min(layout.world, largest))
    count = ceil(layout.world / server.gpus)
    return Link(
        server=server.name,
        gpus_a_server=server.gpus,
        servers_a_replica=count,
        kind="" if layout.world == 1 else server.link,
        gb_s=None if layout.world == 1 else server.link_gb_s,
        basis=server.basis if count == 1 else Basis.ASSUMED,
        source=server.source if count == 1 else "stages on servers joined by the network",
    )


def too_many_ranks(accelerator: Accelerator, layout: Layout) -> str:
    """Why tensor parallelism of that size is not possible on the card."""
    largest = servers(accelerator)[-1].gpus
    return (
        f"{layout.tp} tensor-parallel ranks have to reach each other within one server, and "
        f"{accelerator.name} comes {_count(largest)}."
    )


def _count(gpus: int) -> str:
    return "one to a server" if gpus == 1 else f"{gpus} to a server at most"
