"""The KV pool of one replica: how caches become pages, groups and blocks.

These are result types; each engine fills them by its own rules. *Page* is one layer's bytes for
one block, *group* a set of layers that share block ids, as in vLLM.
"""

from dataclasses import field
from typing import Protocol

from vramledger.frozen import frozen
from vramledger.units import div_ceil


class BlockDemand(Protocol):
    """How many blocks of one group a request needs."""

    def at(self, tokens: int) -> int:
        """Blocks a running request of `tokens` tokens holds."""
        ...

    def reserved(self, tokens: int) -> int:
        """Blocks the engine counts for a request of `tokens` in its fit check and concurrency."""
        ...


@frozen
class KvGroup:
    """Layers that share block ids. `layers` counts real layers, `padding` the filler ones."""

    kind: str  # "full attention", "sliding window 1024", "mamba2 state", ...
    layers: int
    padding: int
    block_size: int  # tokens a block of this group covers
    page_bytes: int  # one layer, one block, on one rank
    demand: BlockDemand


@frozen
class LayerNeed:
    """Equal layers of one pipeline stage before grouping: no padding, no shared pages."""

    count: int
    page_bytes: int
    demand: BlockDemand


@frozen
class KvLayout:
    """Groups and block bytes per pipeline stage, before any memory is assigned."""

    groups: tuple[KvGroup, ...]
    bytes_per_block: tuple[
        int, ...
    ]  # per pipeline stage, on one rank; 0 where a stage owns no cache
    block_size: int  # smallest block over the groups, context parallelism not applied
    element_bytes: float  # bytes of one cache element
    cache_dtype: str  # the type after "auto" is resolved, in the engine's words
    replication: int  # ranks of one TP group that hold the same KV heads
    notes: tuple[str, ...] = ()
    stage_layers: tuple[tuple[LayerNeed, ...], ...] = ()  # per pipeline stage
    group_weights: tuple[int, ...] = ()  # groups of unequal bytes, where the engine weighs by them

    def blocks_at(self, tokens: int) -> int:
        """Blocks a running request of `tokens` tokens holds, over all groups."""
        return sum(group.demand.at(tokens) for group in self.groups)

    def blocks_reserved(self, tokens: int) -> int:
        """Blocks the concurrency figure counts for a request of `tokens`."""
        demands = [group.demand.reserved(tokens) for group in self.groups]
        if not self.group_weights:
            return sum(demands)
        weighed = zip(demands, self.group_weights, strict=True)
        return div_ceil(sum(blocks * weight for blocks, weight in weighed), self.group_weights[0])


@frozen
class KvPool:
    """The pool after memory is known. `num_blocks` is the minimum over ranks, null block included."""

    layout: KvLayout
    num_blocks: int
    tokens: int  # what this engine version prints, per replica
    max_concurrency: float  # what it prints, for requests of `max_model_len`
    max_model_len: int
    fits_one: bool  # the engine's own start-up check: one request of max_model_len
    needed_bytes: int  # bytes that check asks for, on the tightest rank
    available_bytes: tuple[int, ...] = field(default=())  # per pipeline stage

    @property
    def usable_blocks(self) -> int:
        """Blocks requests can hold: one is the engine's null block."""
        return max(0, self.num_blocks - 1)

    @property
    def held_of_one(self) -> float:
        """Blocks there for each block that one request of `max_model_len` comes to hold."""
        each = self.layout.blocks_at(self.max_model_len)
        return self.num_blocks / each if each else 1.0

    def capacity(self, tokens: int) -> int:
        """Requests of `tokens` tokens that the pool holds at once."""
        each = self.layout.blocks_at(tokens)
        return self.usable_blocks // each if each else 0
