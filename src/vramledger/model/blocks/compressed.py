"""DeepSeek-V4's attention: a window of plain states beside compressed ones, and its hyper-connections.

Keys and values are one state of `head_dim` shared by all heads. In vLLM the down-projections,
compressors and indexers are whole on every rank; `wq_b` splits by heads, `wo_a` by groups.
"""

from dataclasses import replace
from typing import Final

from vramledger.frozen import frozen
from vramledger.model.cache import CacheSpec, CompressedAttention
from vramledger.model.dtype import DType
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor

OVERLAPPING_RATIO: Final = 4  # at this ratio neighbouring states overlap: twice the projections


@frozen
class Compressor:
    """Pools `ratio` tokens into one state of `dim`; learned positions weigh the tokens."""

    dim: int
    ratio: int
    doubled: bool

    def tensors(self, base: str, layer: int, hidden: int, role: Role) -> list[Tensor]:
        width = 2 * self.dim if self.doubled else self.dim
        return [
            *linear(f"{base}wkv", width, hidden, role, Shard.REPLICATED, layer=layer),
            *linear(f"{base}wgate", width, hidden, role, Shard.REPLICATED, layer=layer),
            float32(f"{base}ape", (self.ratio, width), role, layer),
            float32(f"{base}norm.weight", (self.dim,), role, layer),
        ]


@frozen
class CompressedIndexer:
    """Scores compressed states; keeps a key of `dim` for each."""

    heads: int
    dim: int

    def tensors(self, base: str, layer: int, hidden: int, q_rank: int, ratio: int) -> list[Tensor]:
        role = Role.INDEXER
        compressor = Compressor(self.dim, ratio, doubled=True)
        return [
            *linear(f"{base}wq_b", self.heads * self.dim, q_rank, role, Shard.REPLICATED,
                    layer=layer),
            *linear(f"{base}weights_proj", self.heads, hidden, role, Shard.REPLICATED,
                    layer=layer),
            *compressor.tensors(f"{base}compressor.", layer, hidden, role),
        ]  # fmt: skip


@frozen
class CompressedBlock:
    """One layer's attention; `ratio` 0 keeps the window only."""

    heads: int
    head_dim: int
    q_rank: int
    out_groups: int
    out_rank: int
    window: int
    ratio: int = 0
    doubled: bool = False
    indexer: CompressedIndexer | None = None
    name: str = "attn."

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        """The weights of one layer; `prefix` ends before the attention's own name."""
        base, role = f"{prefix}{self.name}", Role.ATTENTION
        width = self.heads * self.head_dim
        out = self.out_groups * self.out_rank
        found = [
            *linear(f"{base}wq_a", self.q_rank, hidden, role, Shard.REPLICATED, layer=layer),
            float32(f"{base}q_norm.weight", (self.q_rank,), Role.NORM, layer),
            *linear(f"{base}wq_b", width, self.q_rank, role, Shard.COLUMN, layer=layer,
                    units=self.heads),
            *linear(f"{base}wkv", self.head_dim, hidden, role, Shard.REPLICATED, layer=layer),
            float32(f"{base}kv_norm.weight", (self.head_dim,), Role.NORM, layer),
            *linear(f"{base}wo_a", out, width // self.out_groups, role, Shard.COLUMN,
                    layer=layer, units=self.out_groups),
            *linear(f"{base}wo_b", hidden, out, role, Shard.ROW, layer=layer,
                    units=self.out_groups),
            replace(float32(f"{base}attn_sink", (self.heads,), role, layer),
                    shard=Shard.COLUMN, units=self.heads),
        ]  # fmt: skip
        if self.ratio:
            compressor = Compressor(self.head_dim, self.ratio, self.doubled)
            found += compressor.tensors(f"{base}compressor.", layer, hidden, role)
        if self.indexer:
            found += self.indexer.tensors(f"{base}indexer.", layer, hidden, self.q_rank, self.ratio)
        return found

    def cache(self) -> tuple[CacheSpec, ...]:
        """A window of states, and one state and one indexer key for every `ratio` tokens."""
        index = self.indexer.dim if self.indexer else 0
        return (CompressedAttention(self.head_dim, self.window, self.ratio, index),)


@frozen
class HyperConnection:
    """Mixes `streams` residual streams around the attention and around the experts of a layer."""

    streams: int

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        """The weights of one layer."""
        rows = (2 + self.streams) * self.streams
        return [
            *_mixing(f"{prefix}hc_attn", rows, self.streams * hidden, 3, layer),
            *_mixing(f"{prefix}hc_ffn", rows, self.streams * hidden, 3, layer),
        ]

    def head(self, prefix: str, hidden: int, layer: int | None = None) -> list[Tensor]:
        """The last mixing, from the streams to one."""
        return _mixing(f"{prefix}hc_head", self.streams, self.streams * hidden, 1, layer)


def float32(name: str, shape: tuple[int, ...], role: Role, layer: int | None) -> Tensor:
    """A small tensor that the class keeps in float32."""
    return Tensor(name, shape, role, layer=layer, class_dtype=DType.FLOAT32)


def _mixing(name: str, rows: int, width: int, scales: int, layer: int | None) -> list[Tensor]:
    return [
        float32(f"{name}_fn", (rows, width), Role.OTHER, layer),
        float32(f"{name}_base", (rows,), Role.OTHER, layer),
        float32(f"{name}_scale", (scales,), Role.OTHER, layer),
    ]
