"""Attention that stores less than queries, keys and values: shared caches, keys serving as values."""

from collections.abc import Sequence

from vramledger.frozen import frozen
from vramledger.model.blocks.attention import GroupedAttention
from vramledger.model.cache import CacheSpec, SharedWith
from vramledger.model.tensor import Tensor


@frozen
class BorrowedKeys:
    """Reads the keys and values that another layer cached; owns queries and output only."""

    attention: GroupedAttention
    owner: int  # the layer whose cache it reads

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        """The weights of one layer; `prefix` ends before the attention's own name."""
        names = self.attention.names
        dropped = [names.k, names.v]
        if self.attention.norm:
            dropped.append(self.attention.norm.k)
        found = self.attention.tensors(prefix, layer, hidden)
        return _without(found, f"{prefix}{self.attention.name}", dropped)

    def cache(self) -> tuple[CacheSpec, ...]:
        return (SharedWith(self.owner),)


@frozen
class KeysAsValues:
    """Stores no value projection; the cache holds both all the same (Gemma 4's full layers)."""

    attention: GroupedAttention

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        """The weights of one layer; `prefix` ends before the attention's own name."""
        found = self.attention.tensors(prefix, layer, hidden)
        return _without(found, f"{prefix}{self.attention.name}", [self.attention.names.v])

    def cache(self) -> tuple[CacheSpec, ...]:
        return self.attention.cache()


def _without(tensors: Sequence[Tensor], base: str, names: Sequence[str]) -> list[Tensor]:
    return [t for t in tensors if t.name.removeprefix(base).partition(".")[0] not in names]
