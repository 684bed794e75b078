"""Attention of a decoder over the encoder's output."""

from vramledger.frozen import frozen
from vramledger.model.blocks.attention import GroupedAttention
from vramledger.model.cache import CacheSpec, CrossAttention
from vramledger.model.tensor import Tensor


@frozen
class SourceAttention:
    """Keys and values come from the encoder, once for the request, and stay."""

    attention: GroupedAttention
    source_tokens: int  # most encoder positions a request can have

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        """The weights of one layer; `prefix` ends before the attention's own name."""
        return self.attention.tensors(prefix, layer, hidden)

    def cache(self) -> tuple[CacheSpec, ...]:
        """The one cache that the layer owns."""
        shape = self.attention
        return (
            CrossAttention(shape.kv_heads, shape.head_dim, shape.value_dim, self.source_tokens),
        )
