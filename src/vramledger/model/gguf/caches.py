"""What each GGUF architecture keeps between tokens, from its metadata keys.

Which layers slide where no key says so is each architecture's published pattern.
"""

from collections.abc import Callable, Iterable

from vramledger.model.cache import (
    CacheLayer,
    CacheSpec,
    ChunkedAttention,
    CrossAttention,
    FullAttention,
    LatentAttention,
    RecurrentState,
    SharedWith,
    SlidingAttention,
    StateKind,
    StatePart,
)
from vramledger.model.gguf.metadata import Metadata

Caches = Callable[[Metadata], tuple[CacheLayer, ...]]
State = Callable[[Metadata], RecurrentState]


def none(_: Metadata) -> tuple[CacheLayer, ...]:
    """Encoders and towers keep nothing."""
    return ()


def full(meta: Metadata) -> tuple[CacheLayer, ...]:
    """Keys and values of every token in each layer that has KV heads."""
    return _layers(_full(meta, heads) for heads in meta.kv_heads)


def sliding(period: int, *, full_at: int) -> Caches:
    """Every layer slides but number `full_at` of each `period`; a pattern in the file goes first."""

    def caches(meta: Metadata) -> tuple[CacheLayer, ...]:
        if not meta.integer("attention.sliding_window", 0):
            return full(meta)
        default = tuple(i % period != full_at for i in range(meta.layers))
        slides = meta.flags("attention.sliding_window_pattern") or default
        owned = meta.layers - meta.integer("attention.shared_kv_layers", 0)
        specs = [
            _sliding(meta, heads) if slide else _full(meta, heads)
            for heads, slide in zip(meta.kv_heads, slides, strict=True)
        ]
        return _layers(_with_shared(specs, slides, owned))

    return caches


def all_sliding(meta: Metadata) -> tuple[CacheLayer, ...]:
    """Every layer slides where the file states a window shorter than the context."""
    window = meta.integer("attention.sliding_window", 0)
    if not 0 < window < meta.integer("context_length", 1):
        return full(meta)
    return _layers(_sliding(meta, heads) for heads in meta.kv_heads)


def chunked(meta: Metadata) -> tuple[CacheLayer, ...]:
    """Llama 4: three layers of chunked attention to one full."""
    chunk = meta.integer("attention.chunk_size", 8192, least=1)
    return _layers(
        _full(meta, heads)
        if i % 4 == 3
        else ChunkedAttention(heads, meta.key_dim, meta.value_dim, chunk)
        for i, heads in enumerate(meta.kv_heads)
    )


def latent(meta: Metadata) -> tuple[CacheLayer, ...]:
    """MLA where the file has a latent rank (DeepSeek-V2-Lite's siblings all do), else full."""
    rank = meta.integer("attention.kv_lora_rank", 0)
    if not rank:
        return full(meta)
    indexer = meta.integer("attention.indexer.key_length", 0)
    spec = LatentAttention(rank, meta.integer("rope.dimension_count"), indexer)
    return _layers([spec] * meta.layers)


def recurrent(state: State) -> Caches:
    """Every layer is a mixer with a state."""
    return lambda meta: _layers([state(meta)] * meta.layers)


def hybrid(state: State, *, feed_forward_alone: bool = False) -> Caches:
    """Layers without KV heads keep a state; `feed_forward_alone`: unless they are only an MLP."""

    def caches(meta: Metadata) -> tuple[CacheLayer, ...]:
        mlp = meta.per_layer("feed_forward_length", 0)
        return _layers(
            _full(meta, heads) if heads else (None if feed_forward_alone and width else state(meta))
            for heads, width in zip(meta.kv_heads, mlp, strict=True)
        )

    return caches


def parallel(state: State) -> Caches:
    """Falcon-H1: attention and a mixer side by side in every layer."""

    def caches(meta: Metadata) -> tuple[CacheLayer, ...]:
        return tuple(
            CacheLayer(i, spec)
            for i, heads in enumerate(meta.kv_heads)
            for spec in (FullAttention(heads, meta.key_dim, meta.value_dim), state(meta))
        )

    return caches


def interval(state: State) -> Caches:
    """Qwen3-Next and later: every n-th layer is full attention, the others keep a state."""

    def caches(meta: Metadata) -> tuple[CacheLayer, ...]:
        period = meta.integer("full_attention_interval", 4, least=1)
        return _layers(
            _full(meta, heads) if (i + 1) % period == 0 else state(meta)
            for i, heads in enumerate(meta.kv_heads)
        )

    return caches


def cross(meta: Metadata) -> tuple[CacheLayer, ...]:
    """T5: the decoder keeps its own keys and values, and those of the encoder's output."""
    heads, source = meta.heads, meta.integer("context_length", least=1)
    decoder_layers = meta.integer("decoder_block_count", meta.layers, least=1)
    own = FullAttention(heads, meta.key_dim, meta.value_dim)
    other = CrossAttention(heads, meta.key_dim, meta.value_dim, source)
    return tuple(CacheLayer(i, spec) for i in range(decoder_layers) for spec in (own, other))


def mamba1(meta: Metadata) -> RecurrentState:
    """Selective scan a channel: a convolution tail and a state a channel."""
    width = meta.integer("ssm.inner_size", least=1)
    tail = StatePart((width, meta.integer("ssm.conv_kernel", least=1) - 1), recurrent=False)
    scan = StatePart((width, meta.integer("ssm.state_size", least=1)), recurrent=True)
    return RecurrentState(StateKind.MAMBA1, (tail, scan), width)


def mamba2(meta: Metadata) -> RecurrentState:
    """Selective scan a head; B and C are part of the convolution's width."""
    width = meta.integer("ssm.inner_size", least=1)
    state = meta.integer("ssm.state_size", least=1)
    groups = meta.integer("ssm.group_count", 1, least=1)
    heads = meta.integer("ssm.time_step_rank", least=1)
    tail = StatePart(
        (width + 2 * groups * state, meta.integer("ssm.conv_kernel", least=1) - 1),
        recurrent=False,
        groups=groups,
        group_width=state,
    )
    scan = StatePart((heads, width // heads, state), recurrent=True)
    return RecurrentState(StateKind.MAMBA2, (tail, scan), heads)


def gated_delta(meta: Metadata) -> RecurrentState:
    """Gated DeltaNet: the convolution runs over queries, keys and values."""
    width = meta.integer("ssm.inner_size", least=1)
    key_dim = meta.integer("ssm.state_size", least=1)
    key_heads = meta.integer("ssm.group_count", least=1)
    value_heads = meta.integer("ssm.time_step_rank", least=1)
    kernel = meta.integer("ssm.conv_kernel", least=1)
    tail = StatePart((width + 2 * key_heads * key_dim, kernel - 1), recurrent=False)
    scan = StatePart((value_heads, width // value_heads, key_dim), recurrent=True)
    return RecurrentState(StateKind.GATED_DELTA, (tail, scan), key_heads)


def short_convolution(meta: Metadata) -> RecurrentState:
    """LFM2: the tail of a short convolution."""
    tail = StatePart((meta.hidden, meta.integer("shortconv.l_cache", least=1) - 1), recurrent=False)
    return RecurrentState(StateKind.SHORT_CONV, (tail,), meta.hidden)


def _full(meta: Metadata, heads: int) -> CacheSpec | None:
    return FullAttention(heads, meta.key_dim, meta.value_dim) if heads else None


def _sliding(meta: Metadata, heads: int) -> CacheSpec | None:
    window = meta.integer("attention.sliding_window", least=1)
    key_dim = meta.integer("attention.key_length_swa", meta.key_dim)
    value_dim = meta.integer("attention.value_length_swa", meta.value_dim)
    return SlidingAttention(heads, key_dim, value_dim, window) if heads else None


def _with_shared(
    specs: list[CacheSpec | None], slides: tuple[bool, ...], owned: int
) -> list[CacheSpec | None]:
    """Layers from `owned` on read the cache of the last owning layer of their kind."""
    last = {slides[i]: i for i in range(owned)}
    return [
        spec if i < owned else SharedWith(last.get(slides[i], owned - 1))
        for i, spec in enumerate(specs)
    ]


def _layers(specs: Iterable[CacheSpec | None]) -> tuple[CacheLayer, ...]:
    return tuple(CacheLayer(i, spec) for i, spec in enumerate(specs) if spec is not None)
