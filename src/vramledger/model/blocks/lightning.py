"""Lightning attention: linear attention with a fixed decay per head (MiniMax-Text-01, M1)."""

from vramledger.frozen import frozen
from vramledger.model.cache import CacheSpec, RecurrentState, StateKind, StatePart
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor


@frozen
class Lightning:
    """vLLM splits it by heads; there are as many key and value heads as query heads."""

    heads: int
    head_dim: int
    name: str = "self_attn."

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        """The weights of one layer; `prefix` ends before the mixer's own name."""
        base, role, units = f"{prefix}{self.name}", Role.STATE, self.heads
        width = self.heads * self.head_dim
        return [
            *linear(f"{base}qkv_proj", 3 * width, hidden, role, Shard.COLUMN,
                    layer=layer, units=units),
            *linear(f"{base}output_gate", width, hidden, role, Shard.COLUMN,
                    layer=layer, units=units),
            *linear(f"{base}out_proj", hidden, width, role, Shard.ROW, layer=layer, units=units),
            Tensor(f"{base}norm.weight", (width,), Role.NORM, Shard.COLUMN, layer, units=units),
        ]  # fmt: skip

    def cache(self) -> tuple[CacheSpec, ...]:
        """The one state that the layer owns."""
        part = StatePart((self.heads, self.head_dim, self.head_dim), recurrent=True)
        return (RecurrentState(StateKind.LINEAR, (part,), heads=self.heads),)
