"""What a step reads of the caches, and the products of attention, by kind of layer.

Each layer becomes a `CacheRead` per GPU: bytes and flops for one cached token, and how many tokens of a
context are read at all. Constant states are read and written whole.
"""

from collections.abc import Callable, Mapping
from math import ceil, inf, prod
from typing import Any, Final

from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.kv.element_choice import resolve_cache_type
from vramledger.engine.vllm.stages import stage_layers
from vramledger.frozen import frozen
from vramledger.model.cache import (
    CacheSpec,
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    LatentAttention,
    RecurrentState,
    SharedWith,
    SlidingAttention,
)
from vramledger.model.model import Model
from vramledger.model.tensor import Role

_INDEX_HEADS: Final = 64  # of the sparse indexer of DeepSeek-V3.2


@frozen
class CacheRead:
    """Equal layers of one GPU.

    A token that attends to a context of `n` reads `min(n, most) / ratio` cached tokens; each costs
    `bytes` where it is read by a decode (a prompt's tokens share their reads) and flops.
    """

    layers: int
    bytes: float
    decode_flops: float
    prompt_flops: float
    most: float = inf
    ratio: float = 1.0
    constant: bool = False  # `bytes` once for each request, whatever its length

    def tokens(self, context: float) -> float:
        """Cached tokens that one token reads."""
        return 1.0 if self.constant else min(context, self.most) / self.ratio


@frozen
class _Rank:
    """What a layer's cost depends on beside its own spec."""

    heads: float  # query heads of this GPU
    tp: int
    element_bytes: float
    model: Model


def stage_reads(deployment: Deployment, stage: int) -> tuple[CacheRead, ...]:
    """The reads of one GPU of that stage, equal layers together."""
    model, tp = deployment.model, deployment.layout.tp
    rank = _Rank(
        ceil(model.text.heads / tp), tp, resolve_cache_type(deployment).element_bytes, model
    )
    specs = {layer.layer: layer.spec for layer in model.cache_layers}
    layers = stage_layers(deployment)[stage]
    counted: dict[CacheRead, int] = {}
    for owned in model.cache_layers:
        if owned.layer not in layers:
            continue
        for read in _reads_of(_owner(owned.spec, specs), rank):
            counted[read] = counted.get(read, 0) + 1
    return tuple(
        CacheRead(n, r.bytes, r.decode_flops, r.prompt_flops, r.most, r.ratio, r.constant)
        for r, n in counted.items()
    )


def _owner(spec: CacheSpec, specs: Mapping[int, CacheSpec]) -> CacheSpec:
    return specs.get(spec.layer, spec) if isinstance(spec, SharedWith) else spec


def _reads_of(spec: CacheSpec, rank: _Rank) -> tuple[CacheRead, ...]:
    found = _BY_KIND.get(type(spec))
    return found(spec, rank) if found is not None else ()


def _with_heads(spec: Any, rank: _Rank, most: float = inf, ratio: float = 1.0) -> CacheRead:
    """Keys and values of heads: 2 flops for each element of the query's scores and of its values."""
    width = spec.k_dim + spec.v_dim
    heads = max(1, ceil(spec.kv_heads / rank.tp))
    flops = 2 * rank.heads * width
    return CacheRead(1, heads * width * rank.element_bytes, flops, flops, most, ratio)


def _full(spec: FullAttention, rank: _Rank) -> tuple[CacheRead, ...]:
    if not spec.index_dim:
        return (_with_heads(spec, rank),)
    return (*_indexer(spec.index_dim), _with_heads(spec, rank, rank.model.sparse_topk or inf))


def _sliding(spec: SlidingAttention, rank: _Rank) -> tuple[CacheRead, ...]:
    return (_with_heads(spec, rank, spec.window),)


def _chunked(spec: ChunkedAttention, rank: _Rank) -> tuple[CacheRead, ...]:
    return (_with_heads(spec, rank, spec.chunk),)


def _cross(spec: CrossAttention, rank: _Rank) -> tuple[CacheRead, ...]:
    return (_with_heads(spec, rank, spec.source_tokens),)


def _latent(spec: LatentAttention, rank: _Rank) -> tuple[CacheRead, ...]:
    """Decodes attend in the latent space (all heads share one latent), prompts in the heads' own."""
    decode = 2 * rank.heads * (spec.width + spec.rank)
    prompt = 2 * rank.heads * (rank.model.text.head_dim + _value_width(rank.model, spec))
    most = rank.model.sparse_topk or inf
    own = CacheRead(1, spec.width * rank.element_bytes, decode, prompt, most)
    return (*_indexer(spec.indexer_dim), own) if spec.indexer_dim else (own,)


def _value_width(model: Model, spec: LatentAttention) -> float:
    """Width of a head's value, from the projection out of the latent space."""
    keys = model.text.head_dim - spec.rope_dim
    for tensor in model.tensors:
        if tensor.role is Role.ATTENTION and "kv_b_proj" in tensor.name:
            return max(tensor.shape[0] / model.text.heads - keys, 0.0)
    return keys


def _compressed(spec: CompressedAttention, rank: _Rank) -> tuple[CacheRead, ...]:
    size, flops = spec.width * rank.element_bytes, 4 * rank.heads * spec.width
    near = CacheRead(1, size, flops, flops, spec.window)
    if spec.ratio <= 1:
        return (near,)
    kept = rank.model.sparse_topk * spec.ratio if spec.indexer_dim else 0
    far = CacheRead(1, size, flops, flops, kept or inf, spec.ratio)
    index = _indexer(spec.indexer_dim, spec.ratio) if spec.indexer_dim else ()
    return (near, far, *index)


def _indexer(width: int, ratio: float = 1.0) -> tuple[CacheRead, ...]:
    """One byte an element; every query head of the indexer scores every key."""
    flops = 2 * _INDEX_HEADS * width
    return (CacheRead(1, float(width), flops, flops, ratio=ratio),)


def _state(spec: RecurrentState, rank: _Rank) -> tuple[CacheRead, ...]:
    """Read and written once a step; the products are with the state, of constant cost."""
    elements = sum(prod(part.shape) for part in spec.parts) / min(rank.tp, max(spec.heads, 1))
    return (CacheRead(1, 2 * elements * 4, 4 * elements, 4 * elements, constant=True),)


_BY_KIND: Final[Mapping[type[Any], Callable[[Any, _Rank], tuple[CacheRead, ...]]]] = {
    FullAttention: _full,
    SlidingAttention: _sliding,
    ChunkedAttention: _chunked,
    CrossAttention: _cross,
    LatentAttention: _latent,
    CompressedAttention: _compressed,
    RecurrentState: _state,
}
