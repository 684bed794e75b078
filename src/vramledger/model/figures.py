"""Figures that sum up a model's caches and weights, at tensor parallelism 1.

Bytes a token are averages over a long sequence: a layer that keeps one state for r tokens adds its
bytes divided by r.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import prod
from typing import Final

from vramledger.model.cache import (
    CacheSpec,
    ChunkedAttention,
    CompressedAttention,
    CrossAttention,
    FullAttention,
    LatentAttention,
    RecurrentState,
    SlidingAttention,
)
from vramledger.model.dtype import DType
from vramledger.model.model import Model
from vramledger.model.tensor import Role

ELEMENT_BYTES: Final = 2  # a 16-bit cache


def full_bytes_per_token(model: Model, element_bytes: int = ELEMENT_BYTES) -> int:
    """Bytes that every token adds for as long as the sequence lives, without indexer keys."""
    return round(element_bytes * sum((_full_width(spec) for spec in _specs(model)), Fraction(0)))


def window_bytes_per_token(model: Model, element_bytes: int = ELEMENT_BYTES) -> int:
    """Bytes a token takes in the layers that keep only a window or a chunk."""
    return element_bytes * sum(_window_width(spec) for spec in _specs(model))


def window(model: Model) -> int | None:
    """The longest window or chunk of any layer in tokens, None where all layers keep everything."""
    return max((size for spec in _specs(model) if (size := _window(spec))), default=None)


def state_bytes_per_sequence(model: Model, ssm: DType = DType.BFLOAT16) -> int:
    """Bytes of recurrent state a sequence takes whatever its length.

    The convolution parts have 16 bits; `ssm` is the element type of the recurrent parts. Types that
    a layer kind fixes are not applied, so that the figure compares models alike.
    """
    return sum(
        prod(part.shape) * (ssm.nbytes if part.recurrent else ELEMENT_BYTES)
        for spec in _specs(model)
        if isinstance(spec, RecurrentState)
        for part in spec.parts
    )


def cross_bytes_per_sequence(model: Model, element_bytes: int = ELEMENT_BYTES) -> int:
    """Bytes of cross-attention keys and values for the longest encoder input, 0 where none."""
    return element_bytes * sum(
        spec.width * spec.source_tokens
        for spec in _specs(model)
        if isinstance(spec, CrossAttention)
    )


def indexer_bytes_per_token(model: Model, element_bytes: int = ELEMENT_BYTES) -> int:
    """Bytes of sparse-attention indexer keys that every token adds."""
    widths = (_indexer_width(spec) for spec in _specs(model))
    return round(element_bytes * sum(widths, Fraction(0)))


def weights_bytes_bf16(model: Model) -> int:
    """Bytes of the parameters in bfloat16, with those in float32 that the class keeps so."""
    return sum(
        tensor.elements * (tensor.class_dtype or DType.BFLOAT16).nbytes
        for tensor in model.tensors
        if tensor.role is not Role.BUFFER
    )


def _specs(model: Model) -> Iterable[CacheSpec]:
    return (layer.spec for layer in model.cache_layers)


def _full_width(spec: CacheSpec) -> Fraction:
    if isinstance(spec, FullAttention | LatentAttention):
        return Fraction(spec.width)
    if isinstance(spec, CompressedAttention) and spec.ratio > 1:
        return Fraction(spec.width, spec.ratio)
    return Fraction(0)


def _window_width(spec: CacheSpec) -> int:
    if isinstance(spec, SlidingAttention | ChunkedAttention | CompressedAttention):
        return spec.width
    return 0


def _window(spec: CacheSpec) -> int:
    if isinstance(spec, ChunkedAttention):
        return spec.chunk
    if isinstance(spec, SlidingAttention | CompressedAttention):
        return spec.window
    return 0


def _indexer_width(spec: CacheSpec) -> Fraction:
    if isinstance(spec, LatentAttention):
        return Fraction(spec.indexer_dim)
    if isinstance(spec, CompressedAttention) and spec.ratio > 1:
        return Fraction(spec.indexer_dim, spec.ratio)
    return Fraction(0)
