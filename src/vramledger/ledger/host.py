"""The host ledger: memory of the server that stands beside the GPUs'.

It holds weights or extends prefix reuse; none of it raises the number of running tokens, except
the swap space of V0, which holds preempted requests.
"""

from typing import Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.evidence import Basis, Figure
from vramledger.ledger.ledger import HostRow

_PROCESSOR_CACHE_GIB: Final = 4.0  # mm_processor_cache_gb, per API server and engine


def host_rows(deployment: Deployment) -> tuple[HostRow, ...]:
    """One row for every tier that is in use, in GiB of the whole server."""
    found = (
        _offloaded_weights(deployment),
        _kv_offload(deployment),
        _swap(deployment),
        _processor_cache(deployment),
    )
    return tuple(row for row in found if row is not None)


def _offloaded_weights(deployment: Deployment) -> HostRow | None:
    share = deployment.cpu_offload_gib.value
    if not share:
        return None
    gpus = deployment.layout.gpus
    figure = Figure.sharp(share * gpus, Basis.DERIVED, f"{share:g} GiB for each of {gpus} GPUs")
    note = "pinned; every forward pass reads it over the bus"
    return HostRow("cpu_offload", "weights offloaded", figure, note)


def _kv_offload(deployment: Deployment) -> HostRow | None:
    size = deployment.kv_offloading_gib.value
    if not size:
        return None
    figure = Figure.sharp(size, Basis.DERIVED, "--kv-offloading-size, summed over the ranks")
    note = "keeps prefixes for reuse; it does not raise the number of running tokens"
    return HostRow("kv_offload", "KV offload tier", figure, note)


def _swap(deployment: Deployment) -> HostRow | None:
    share = deployment.swap_space_gib.value
    if not deployment.rules.swap_space or not share:
        return None
    gpus = deployment.layout.gpus
    figure = Figure.sharp(share * gpus, Basis.DERIVED, f"{share:g} GiB for each of {gpus} GPUs")
    return HostRow("swap", "swap space", figure, "holds the KV cache of preempted requests")


def _processor_cache(deployment: Deployment) -> HostRow | None:
    if not deployment.model.towers or not deployment.rules.v1:
        return None
    processes = 1 + deployment.layout.dp
    figure = Figure(
        _PROCESSOR_CACHE_GIB * processes,
        0.0,
        _PROCESSOR_CACHE_GIB * processes,
        Basis.ASSUMED,
        "the engine's default of 4 GiB for each API server and engine process",
    )
    return HostRow("mm_cache", "multimodal processor cache", figure, "fills as inputs repeat")
