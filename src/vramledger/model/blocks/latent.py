"""Multi-head latent attention (MLA) and the sparse indexer that may sit beside it (DSA)."""

from vramledger.frozen import frozen
from vramledger.model.cache import CacheSpec, LatentAttention
from vramledger.model.parts import linear, norm
from vramledger.model.tensor import Role, Shard, Tensor


@frozen
class Indexer:
    """Scores past tokens and keeps the best for attention; holds one key a token of its own.

    Every rank holds all of it: vLLM builds its projections replicated.
    """

    heads: int
    dim: int

    def tensors(self, base: str, layer: int, hidden: int, q_rank: int) -> list[Tensor]:
        role = Role.INDEXER
        return [
            *linear(f"{base}indexer.wq_b", self.heads * self.dim, q_rank, role,
                    Shard.REPLICATED, layer=layer),
            *linear(f"{base}indexer.wk", self.dim, hidden, role, Shard.REPLICATED, layer=layer),
            Tensor(f"{base}indexer.k_norm.weight", (self.dim,), role, layer=layer),
            Tensor(f"{base}indexer.k_norm.bias", (self.dim,), role, layer=layer),
            *linear(f"{base}indexer.weights_proj", self.heads, hidden, role, Shard.REPLICATED,
                    layer=layer),
        ]  # fmt: skip


@frozen
class LatentBlock:
    """Queries, keys and values through low-rank latents; the cache holds one latent a token.

    The down-projections are whole on every rank, the up-projections split by heads.
    """

    heads: int
    q_rank: int  # 0: queries are projected directly
    kv_rank: int
    nope_dim: int
    rope_dim: int
    v_dim: int
    bias: bool = False  # of the down-projections and the output
    indexer: Indexer | None = None
    gate: str = ""  # name of a projection that gates the values of every head (Kimi-K3)
    name: str = "self_attn."

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        """The weights of one layer; `prefix` ends before the attention's own name."""
        base = f"{prefix}{self.name}"
        role = Role.ATTENTION
        found = [
            *self._query(base, layer, hidden),
            *linear(f"{base}kv_a_proj_with_mqa", self.kv_rank + self.rope_dim, hidden, role,
                    Shard.REPLICATED, layer=layer, bias=self.bias),
            *norm(f"{base}kv_a_layernorm", self.kv_rank, layer=layer),
            *linear(f"{base}kv_b_proj", self.heads * (self.nope_dim + self.v_dim), self.kv_rank,
                    role, Shard.COLUMN, layer=layer, units=self.heads),
            *linear(f"{base}o_proj", hidden, self.heads * self.v_dim, role, Shard.ROW,
                    layer=layer, bias=self.bias, units=self.heads),
        ]  # fmt: skip
        if self.gate:
            found += linear(f"{base}{self.gate}", self.heads * self.v_dim, hidden, role,
                            Shard.COLUMN, layer=layer, units=self.heads)  # fmt: skip
        if self.indexer:
            found += self.indexer.tensors(base, layer, hidden, self.q_rank)
        return found

    def cache(self) -> tuple[CacheSpec, ...]:
        """One latent and one rotary key a token, and the indexer's key where the layer has one."""
        index = self.indexer.dim if self.indexer else 0
        return (LatentAttention(self.kv_rank, self.rope_dim, index),)

    def _query(self, base: str, layer: int, hidden: int) -> list[Tensor]:
        role = Role.ATTENTION
        width = self.heads * (self.nope_dim + self.rope_dim)
        if not self.q_rank:
            return linear(f"{base}q_proj", width, hidden, role, Shard.COLUMN, layer=layer,
                          units=self.heads)  # fmt: skip
        return [
            *linear(f"{base}q_a_proj", self.q_rank, hidden, role, Shard.REPLICATED, layer=layer,
                    bias=self.bias),
            *norm(f"{base}q_a_layernorm", self.q_rank, layer=layer),
            *linear(f"{base}q_b_proj", width, self.q_rank, role, Shard.COLUMN, layer=layer,
                    units=self.heads),
        ]  # fmt: skip
