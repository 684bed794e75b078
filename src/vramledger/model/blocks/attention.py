"""Attention with a key and a value per KV head: MHA, GQA and MQA, full, sliding or chunked."""

from enum import Enum
from typing import Final

from vramledger.frozen import frozen
from vramledger.model.cache import (
    CacheSpec,
    ChunkedAttention,
    FullAttention,
    SlidingAttention,
)
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor


class NormSpan(Enum):
    """What one query or key norm spans."""

    HEAD = "one vector shared by all heads"
    EACH = "a row of one matrix for each head"
    SPLIT = "a tensor of its own for each head"
    WHOLE = "one vector over all heads"


@frozen
class QueryKeyNorm:
    """Norms of queries and keys before the scores."""

    q: str = "q_norm"
    k: str = "k_norm"
    span: NormSpan = NormSpan.HEAD
    bias: bool = False


@frozen
class ProjectionNames:
    """Names of the projections; a fused one is named once for each of its pieces."""

    q: str = "q_proj"
    k: str = "k_proj"
    v: str = "v_proj"
    out: str = "o_proj"

    @classmethod
    def fused(cls, qkv: str, out: str) -> "ProjectionNames":
        return cls(qkv, qkv, qkv, out)


SEPARATE: Final = ProjectionNames()


@frozen
class GroupedAttention:
    """Queries in `heads`, keys and values in `kv_heads`; a window or chunk bounds the cache."""

    heads: int
    kv_heads: int
    head_dim: int
    v_dim: int = 0  # width of a value head, 0 for `head_dim`
    window: int = 0  # tokens a sliding layer keeps, 0 for all
    chunk: int = 0  # tokens of a chunk (Llama 4), 0 for none
    qkv_bias: bool = False
    k_bias: bool | None = None  # where keys differ from queries and values (Whisper)
    out_bias: bool = False
    norm: QueryKeyNorm | None = None
    sinks: bool = False  # a learned logit per query head
    sink_name: str = "sinks"
    gate: str = ""  # name of a projection to gates of the output
    gate_dim: int = 1  # gates per query head
    out_width: int = 0  # outputs of the last projection, 0 for as many as inputs (Zamba2)
    query_gate: bool = False  # the query projection also yields a gate as wide (Qwen3-Next)
    name: str = "self_attn."
    names: ProjectionNames = SEPARATE

    @property
    def value_dim(self) -> int:
        return self.v_dim or self.head_dim

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        """The weights of one layer; `prefix` ends before the attention's own name."""
        base = f"{prefix}{self.name}"
        role = Role.ATTENTION
        k_bias = self.qkv_bias if self.k_bias is None else self.k_bias
        queries = self.heads * self.head_dim * (2 if self.query_gate else 1)
        found = [
            *linear(f"{base}{self.names.q}", queries, hidden, role,
                    Shard.COLUMN, layer=layer, bias=self.qkv_bias, units=self.heads),
            *linear(f"{base}{self.names.k}", self.kv_heads * self.head_dim, hidden, role,
                    Shard.KV, layer=layer, bias=k_bias, units=self.kv_heads),
            *linear(f"{base}{self.names.v}", self.kv_heads * self.value_dim, hidden, role,
                    Shard.KV, layer=layer, bias=self.qkv_bias, units=self.kv_heads),
            *linear(f"{base}{self.names.out}", self.out_width or hidden, self.heads * self.value_dim, role,
                    Shard.ROW, layer=layer, bias=self.out_bias, units=self.heads),
        ]  # fmt: skip
        if self.gate:
            found += linear(f"{base}{self.gate}", self.heads * self.gate_dim, hidden, role,
                            Shard.COLUMN, layer=layer, units=self.heads)  # fmt: skip
        if self.sinks:
            found.append(
                Tensor(
                    f"{base}{self.sink_name}",
                    (self.heads,),
                    role,
                    Shard.COLUMN,
                    layer,
                    units=self.heads,
                )
            )
        return found + self._norms(base, layer)

    def cache(self) -> tuple[CacheSpec, ...]:
        """The one cache that the layer owns."""
        width = (self.kv_heads, self.head_dim, self.value_dim)
        if self.window:
            return (SlidingAttention(*width, self.window),)
        if self.chunk:
            return (ChunkedAttention(*width, self.chunk),)
        return (FullAttention(*width),)

    def _norms(self, base: str, layer: int) -> list[Tensor]:
        if self.norm is None:
            return []
        return [
            tensor
            for name, heads in ((self.norm.q, self.heads), (self.norm.k, self.kv_heads))
            for kind in (("weight", "bias") if self.norm.bias else ("weight",))
            for tensor in self._norm(f"{base}{name}", kind, self.norm.span, heads, layer)
        ]

    def _norm(self, name: str, kind: str, span: NormSpan, heads: int, layer: int) -> list[Tensor]:
        if span is NormSpan.SPLIT:
            return [
                Tensor(f"{name}.norms.{{e}}.{kind}", (self.head_dim,), Role.NORM, layer=layer,
                       copies=heads)
            ]  # fmt: skip
        shapes = {
            NormSpan.HEAD: (self.head_dim,),
            NormSpan.EACH: (heads, self.head_dim),
            NormSpan.WHOLE: (heads * self.head_dim,),
        }
        return [Tensor(f"{name}.{kind}", shapes[span], Role.NORM, layer=layer)]
