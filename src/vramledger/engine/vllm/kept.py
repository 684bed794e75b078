"""What vLLM keeps beside plain keys and values, where its element types are not 16-bit ones."""

from fractions import Fraction
from math import ceil

from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.kv.layers import indexer_key_bytes
from vramledger.engine.vllm.kv.state import state_bytes
from vramledger.frozen import frozen
from vramledger.model.cache import CacheSpec, CompressedAttention, LatentAttention, RecurrentState


@frozen
class Kept:
    """Bytes on one GPU in the element types of the engine and version; 0 where there is none."""

    state_bytes_per_sequence: int = 0
    indexer_bytes_per_token: int = 0


def kept(deployment: Deployment) -> Kept:
    """Recurrent states of a sequence and indexer keys of a token, as the ledger counts them."""
    specs = [layer.spec for layer in deployment.model.cache_layers]
    states = (state_bytes(deployment, s) for s in specs if isinstance(s, RecurrentState))
    return Kept(sum(states), ceil(sum((_indexer(spec) for spec in specs), Fraction(0))))


def _indexer(spec: CacheSpec) -> Fraction:
    if isinstance(spec, LatentAttention):
        return Fraction(indexer_key_bytes(spec.indexer_dim))
    if isinstance(spec, CompressedAttention) and spec.ratio > 1:
        return Fraction(indexer_key_bytes(spec.indexer_dim), spec.ratio)
    return Fraction(0)
