"""From a model's caches to one spec per cache-owning layer on one rank, in layer order."""

from collections.abc import Callable, Iterator
from typing import Final, cast

from vramledger.engine.vllm.deployment import Deployment
from vramledger.engine.vllm.kv.block_size import (
    attention_block_size,
    hybrid_block_size,
    kernel_block,
)
from vramledger.engine.vllm.kv.compressed import compressed_specs
from vramledger.engine.vllm.kv.demand import Chunked, Crossed, Growing, Windowed
from vramledger.engine.vllm.kv.draft import draft_layers
from vramledger.engine.vllm.kv.element import CacheType, native
from vramledger.engine.vllm.kv.element_choice import resolve_cache_type
from vramledger.engine.vllm.kv.specs import LayerSpec, PlannedLayer
from vramledger.engine.vllm.kv.state import state_bytes, state_use
from vramledger.engine.vllm.stages import stage_of
from vramledger.frozen import frozen
from vramledger.model.cache import (
    CacheLayer,
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
from vramledger.units import div_ceil

_INDEXER_SCALE: Final = 4  # one float32 scale for 128 elements of an indexer key
_INDEXER_GROUP: Final = 128
_INDEX_KEY_BYTES: Final = 2  # MiniMax-M3 keeps one bfloat16 key for all heads


@frozen
class PoolPlan:
    """What all layers ask for, before grouping."""

    layers: tuple[PlannedLayer, ...]
    cache: CacheType
    block_size: int  # of attention layers, after alignment
    notes: tuple[str, ...]


@frozen
class _Sizes:
    """What layers of one deployment share."""

    deployment: Deployment
    cache: CacheType
    native: CacheType
    block_size: int
    window_block: int
    state_block: int
    state_page: int | None

    def heads(self, whole: int) -> int:
        """KV heads on one rank; repeated when ranks outnumber heads."""
        return max(1, whole // self.deployment.layout.tp)


def plan_layers(deployment: Deployment) -> PoolPlan:
    """Every cache-owning layer with its page and its way of using blocks.

    Raises:
        CannotKnow: what the model remembers is not known.
        UnknownName, BadInput: a cache type this version or this model does not have.
    """
    cache = resolve_cache_type(deployment)
    own = deployment.model.require_cache()
    sizes = _sizes(deployment, cache, own)
    last = deployment.layout.pp - 1
    stages = stage_of(deployment)
    planned = [
        PlannedLayer(stages[layer.layer] if layer.layer < len(stages) else last, spec)
        for layer in own
        for spec in _specs(sizes, layer)
    ]
    planned += [
        PlannedLayer(last, spec)
        for layer in draft_layers(deployment)
        for spec in _specs(sizes, layer)
    ]
    return PoolPlan(tuple(planned), cache, sizes.block_size, _notes(deployment, cache, sizes))


def _notes(deployment: Deployment, cache: CacheType, sizes: _Sizes) -> tuple[str, ...]:
    given = deployment.block_size.value
    notes = []
    if given is not None and given != sizes.block_size:
        notes.append(f"vLLM overrides --block-size {given} with {sizes.block_size} for this model.")
    if deployment.kv_cache_dtype.value not in (cache.name, "auto"):
        notes.append(
            f"--kv-cache-dtype {deployment.kv_cache_dtype.value} becomes {cache.name} "
            "for this model."
        )
    return tuple(notes)


def _sizes(deployment: Deployment, cache: CacheType, own: tuple[CacheLayer, ...]) -> _Sizes:
    block = attention_block_size(deployment, cache)
    states = [layer.spec for layer in own if isinstance(layer.spec, RecurrentState)]
    attention = _token_bytes(deployment, cache, own)
    page: int | None = None
    if states and attention and deployment.rules.v1:
        use = state_use(deployment, states[0])
        largest = max(state_bytes(deployment, state) for state in states)
        block = hybrid_block_size(
            deployment, block, largest, attention, every_block=use.every_block
        )
        page = block * attention
    block = _covering_skipped(deployment, cache, own, block)
    return _Sizes(
        deployment,
        cache,
        native(deployment.dtype.value),
        block,
        _window_block(deployment, block),
        _state_block(deployment, states, block),
        page,
    )


def _token_bytes(deployment: Deployment, cache: CacheType, own: tuple[CacheLayer, ...]) -> int:
    """What a token takes in one attention layer of a hybrid, 0 where there is none."""
    for layer in own:
        spec = layer.spec
        if isinstance(spec, LatentAttention):
            return cache.latent(spec)
        if isinstance(spec, FullAttention | SlidingAttention | ChunkedAttention):
            heads = max(1, spec.kv_heads // deployment.layout.tp)
            return heads * cache.head_bytes(spec.k_dim, spec.v_dim)
    return 0


def _covering_skipped(
    deployment: Deployment, cache: CacheType, own: tuple[CacheLayer, ...], block: int
) -> int:
    """The block enlarged so that a quantised page covers one kernel block of an unquantised layer."""
    if not deployment.rules.window_own_block or not _skips_layers(deployment, cache):
        return block
    quantised = _token_bytes(deployment, cache, own)
    whole = _token_bytes(deployment, native(deployment.dtype.value), own)
    if not quantised or whole <= quantised:
        return block
    alignment = max(kernel_block(deployment), block)
    needed = alignment * div_ceil(whole * kernel_block(deployment), alignment * quantised)
    return max(block, needed)


def _skips_layers(deployment: Deployment, cache: CacheType) -> bool:
    hybrid = any(isinstance(layer.spec, RecurrentState) for layer in deployment.model.cache_layers)
    return bool(deployment.kv_cache_skip_layers) or (cache.keeps_boundary_layers > 0 and not hybrid)


def _window_block(deployment: Deployment, block: int) -> int:
    """Window layers take a kernel block of their own from 0.26 on; pages are made equal later."""
    rules = deployment.rules
    if not rules.window_own_block:
        return block
    kernel = kernel_block(deployment)
    return max(kernel, block // kernel * kernel) if rules.packed_pages else kernel


def _state_block(deployment: Deployment, states: list[RecurrentState], block: int) -> int:
    longest = deployment.max_model_len.value or deployment.model.text.max_positions
    if not states:
        return longest
    use = state_use(deployment, states[0])
    aligned = use.every_block or use.running > 1 + deployment.draft_tokens
    return block if aligned else deployment.mamba_block_size.value or longest


def _specs(sizes: _Sizes, layer: CacheLayer) -> Iterator[LayerSpec]:
    yield from _BUILDERS[type(layer.spec)](sizes, layer.layer, layer.spec)


def _layer_cache(sizes: _Sizes, layer: int) -> CacheType:
    """The cache type of one layer: boundary and skipped layers stay at the model's own type."""
    deployment, layers = sizes.deployment, sizes.deployment.model.text.layers
    edge = min(sizes.cache.keeps_boundary_layers, layers // 2)
    boundary = layer < edge or layer >= layers - edge
    skipped = str(layer) in deployment.kv_cache_skip_layers
    if skipped or (boundary and _skips_layers(deployment, sizes.cache)):
        return sizes.native
    return sizes.cache


def _full(sizes: _Sizes, layer: int, spec: CacheSpec) -> Iterator[LayerSpec]:
    full = cast("FullAttention", spec)
    value = full.v_dim if sizes.deployment.rules.full_value_width else full.k_dim
    heads = sizes.heads(full.kv_heads)
    width = _layer_cache(sizes, layer).head_bytes(full.k_dim, value)
    yield LayerSpec(Growing(), sizes.block_size, heads * width, (heads, full.k_dim, value))
    if full.index_dim:
        key = full.index_dim * _INDEX_KEY_BYTES
        yield LayerSpec(Growing(), sizes.block_size, key, (full.index_dim,), latent=True)


def _sliding(sizes: _Sizes, layer: int, spec: CacheSpec) -> Iterator[LayerSpec]:
    sliding = cast("SlidingAttention", spec)
    value = sliding.v_dim if sizes.deployment.rules.window_value_width else sliding.k_dim
    heads = sizes.heads(sliding.kv_heads)
    kind = "sliding_window" in sizes.deployment.kv_cache_skip_layers
    cache = sizes.native if kind else _layer_cache(sizes, layer)
    width = cache.head_bytes(sliding.k_dim, value)
    shape = (heads, sliding.k_dim, value)
    yield LayerSpec(Windowed(sliding.window), sizes.window_block, heads * width, shape)


def _chunked(sizes: _Sizes, layer: int, spec: CacheSpec) -> Iterator[LayerSpec]:
    chunked = cast("ChunkedAttention", spec)
    heads = sizes.heads(chunked.kv_heads)
    width = _layer_cache(sizes, layer).head_bytes(chunked.k_dim, chunked.v_dim)
    shape = (heads, chunked.k_dim, chunked.v_dim)
    planned = sizes.deployment.rules.chunked_specs
    use = Chunked(chunked.chunk) if planned else Growing()
    yield LayerSpec(use, sizes.block_size, heads * width, shape)


def _latent(sizes: _Sizes, layer: int, spec: CacheSpec) -> Iterator[LayerSpec]:
    latent = cast("LatentAttention", spec)
    token = _layer_cache(sizes, layer).latent(latent)
    yield LayerSpec(Growing(), sizes.block_size, token, (latent.width,), latent=True)
    if latent.indexer_dim:
        key = indexer_key_bytes(latent.indexer_dim)
        yield LayerSpec(Growing(), sizes.block_size, key, (key,), latent=True)


def indexer_key_bytes(elements: int) -> int:
    """One 8-bit key of a sparse indexer with its scales."""
    return elements + _INDEXER_SCALE * div_ceil(elements, _INDEXER_GROUP)


def _cross(sizes: _Sizes, layer: int, spec: CacheSpec) -> Iterator[LayerSpec]:
    cross = cast("CrossAttention", spec)
    heads = sizes.heads(cross.kv_heads)
    width = _layer_cache(sizes, layer).head_bytes(cross.k_dim, cross.v_dim)
    shape = (heads, cross.k_dim, cross.v_dim)
    deployment, counted = sizes.deployment, cross.source_tokens
    if deployment.rules.cross_counts_batch:
        counted = deployment.encoder_tokens or deployment.max_num_batched_tokens.value
    use = Crossed(cross.source_tokens, counted)
    yield LayerSpec(use, sizes.block_size, heads * width, shape)


def _state(sizes: _Sizes, layer: int, spec: CacheSpec) -> Iterator[LayerSpec]:
    del layer
    state = cast("RecurrentState", spec)
    if not sizes.deployment.rules.v1:
        return  # V0 keeps states outside the pool, one per running sequence
    yield LayerSpec(
        state_use(sizes.deployment, state),
        sizes.state_block,
        state_bytes(sizes.deployment, state),
        tuple(size for part in state.parts for size in part.shape),
        fixed=True,
        page_padded=sizes.state_page,
    )


def _compressed(sizes: _Sizes, layer: int, spec: CacheSpec) -> Iterator[LayerSpec]:
    del layer
    yield from compressed_specs(cast("CompressedAttention", spec), sizes.cache, sizes.block_size)


def _shared(sizes: _Sizes, layer: int, spec: CacheSpec) -> Iterator[LayerSpec]:
    del sizes, layer, spec
    yield from ()


_BUILDERS: Final[dict[type, Callable[[_Sizes, int, CacheSpec], Iterator[LayerSpec]]]] = {
    FullAttention: _full,
    SlidingAttention: _sliding,
    ChunkedAttention: _chunked,
    LatentAttention: _latent,
    CompressedAttention: _compressed,
    CrossAttention: _cross,
    RecurrentState: _state,
    SharedWith: _shared,
}
