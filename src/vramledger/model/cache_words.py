"""A model's caches in words, layers that keep alike in one line."""

from collections.abc import Callable
from math import prod
from typing import Any, Final

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
from vramledger.units import format_bytes

_ELEMENT_BYTES: Final = 2


@frozen
class CacheLine:
    """Layers that keep the same thing, and what they cost together."""

    kind: str  # "full", "sliding", "chunked", "latent", "compressed", "state", "cross", "shared"
    layers: int
    sentence: str


def cache_lines(model: Model) -> tuple[CacheLine, ...]:
    """One line for each different cache, in the order of their first layer."""
    counts: dict[CacheSpec, int] = {}
    for layer in model.cache_layers:
        spec = layer.spec
        key: CacheSpec = SharedWith(-1) if isinstance(spec, SharedWith) else spec
        counts[key] = counts.get(key, 0) + 1
    return tuple(_line(spec, count, model.text.heads) for spec, count in counts.items())


def _line(spec: CacheSpec, layers: int, heads: int) -> CacheLine:
    kind, describe = _WORDS[type(spec)]
    return CacheLine(kind, layers, f"{layers} layers {describe(spec, layers, heads)}")


def _full(spec: FullAttention, layers: int, heads: int) -> str:
    text = f"{_heads(spec, heads)}: {_per_token(spec.width, layers)}"
    if spec.index_dim:
        text += f", and {_per_token(spec.index_dim, layers)} for the block index"
    return text


def _sliding(spec: SlidingAttention, layers: int, heads: int) -> str:
    return (
        f"sliding window {spec.window:,}, {_heads(spec, heads)}: {_per_token(spec.width, layers)}, "
        f"at most {_window(spec.width, layers, spec.window)} a sequence"
    )


def _chunked(spec: ChunkedAttention, layers: int, heads: int) -> str:
    return (
        f"chunks of {spec.chunk:,}, {_heads(spec, heads)}: {_per_token(spec.width, layers)}, "
        f"at most {_window(spec.width, layers, spec.chunk)} a sequence"
    )


def _latent(spec: LatentAttention, layers: int, _: int) -> str:
    text = f"MLA, one latent of {spec.rank} + {spec.rope_dim} for all heads: "
    text += _per_token(spec.width, layers)
    if spec.indexer_dim:
        text += f", and {_per_token(spec.indexer_dim, layers)} for the sparse indexer"
    return text


def _compressed(spec: CompressedAttention, layers: int, _: int) -> str:
    own = f"window {spec.window:,} of {spec.width} elements"
    own += f": at most {_window(spec.width, layers, spec.window)} a sequence"
    if spec.ratio <= 1:
        return own
    text = f"{own}, and one state for {spec.ratio} tokens: "
    text += _per_token(spec.width / spec.ratio, layers)
    if spec.indexer_dim:
        text += f" and {_per_token(spec.indexer_dim / spec.ratio, layers)} for the sparse indexer"
    return text


def _state(spec: RecurrentState, layers: int, _: int) -> str:
    elements = sum(prod(part.shape) for part in spec.parts)
    total = format_bytes(layers * elements * _ELEMENT_BYTES)
    return f"{spec.kind} state: {total} a sequence, whatever its length"


def _cross(spec: CrossAttention, layers: int, heads: int) -> str:
    total = format_bytes(layers * spec.width * spec.source_tokens * _ELEMENT_BYTES)
    return f"cross attention, {_heads(spec, heads)}: {total} for {spec.source_tokens:,} positions"


def _shared(_: SharedWith, layers: int, heads: int) -> str:
    del layers, heads
    return "read another layer's cache and own none"


_WORDS: Final[dict[type, tuple[str, Callable[[Any, int, int], str]]]] = {
    FullAttention: ("full", _full),
    SlidingAttention: ("sliding", _sliding),
    ChunkedAttention: ("chunked", _chunked),
    LatentAttention: ("latent", _latent),
    CompressedAttention: ("compressed", _compressed),
    RecurrentState: ("state", _state),
    CrossAttention: ("cross", _cross),
    SharedWith: ("shared", _shared),
}


def _heads(
    spec: FullAttention | SlidingAttention | ChunkedAttention | CrossAttention, heads: int
) -> str:
    """``GQA 8 KV heads x 128``; MQA with one KV head, MHA with as many as query heads."""
    name = "MQA" if spec.kv_heads == 1 else "MHA" if spec.kv_heads == heads else "GQA"
    dim = f"{spec.k_dim}" if spec.k_dim == spec.v_dim else f"({spec.k_dim} + {spec.v_dim})"
    plural = "" if spec.kv_heads == 1 else "s"
    return f"{name} {spec.kv_heads} KV head{plural} x {dim}"


def _per_token(width: float, layers: int) -> str:
    return f"{format_bytes(round(layers * width * _ELEMENT_BYTES))} a token"


def _window(width: int, layers: int, tokens: int) -> str:
    return format_bytes(layers * width * tokens * _ELEMENT_BYTES)
