"""What a layout holds more than once: memory that copies take and no request gains from."""

from dataclasses import replace

from vramledger.engine.kv import KvPool
from vramledger.engine.setting import Layout
from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.weights import RankWeights, rank_weights
from vramledger.units import GIB


def kv_waste_gib(layout: Layout, pool: KvPool) -> float:
    """GiB of one replica's pool that other ranks hold too, because ranks outnumber KV heads."""
    copies = pool.layout.replication
    if copies == 1:
        return 0.0
    stages = sum(pool.layout.bytes_per_block) * pool.num_blocks / GIB
    return stages * layout.tp * (1 - 1 / copies)


def weights_waste_gib(deployment: Deployment) -> float:
    """GiB that the ranks of one replica hold beyond the model on a single rank.

    Weights that are repeated on every rank, KV heads that are repeated, and padding.
    """
    layout = deployment.layout
    if layout.world == 1:
        return 0.0
    single = rank_weights(replace(deployment, layout=Layout()), 0)
    ranks = sum(layout.tp * _bytes(rank_weights(deployment, s)) for s in range(layout.pp))
    return max(0.0, (ranks - _bytes(single)) / GIB)


def _bytes(weights: RankWeights) -> int:
    """Weights proper, without tables, work space and rounding."""
    return sum(weights.by_role.values()) + weights.absorbed
