"""RG-LRU: Griffin's gated linear recurrence (RecurrentGemma)."""

from vramledger.frozen import frozen
from vramledger.model.cache import CacheSpec, RecurrentState, StateKind, StatePart
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor
from vramledger.units import div_even


@frozen
class RgLru:
    """Gates are block-diagonal, one block a head."""

    width: int
    heads: int
    kernel: int
    name: str = "temporal_block."

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        """The weights of one layer; `prefix` ends before the mixer's own name.

        Raises:
            BadInput: the heads do not divide the width.
        """
        base, role, units = f"{prefix}{self.name}", Role.STATE, self.heads
        found: list[Tensor] = []
        for name in ("linear_y", "linear_x"):
            found += linear(f"{base}{name}", self.width, hidden, role, Shard.COLUMN,
                            layer=layer, bias=True, units=units)  # fmt: skip
        found += linear(f"{base}linear_out", hidden, self.width, role, Shard.ROW,
                        layer=layer, bias=True, units=units)  # fmt: skip
        return found + [
            Tensor(f"{base}{name}", shape, role, Shard.COLUMN, layer, units=units)
            for name, shape in self._by_head().items()
        ]

    def cache(self) -> tuple[CacheSpec, ...]:
        """The one state that the layer owns."""
        conv = StatePart((self.width, self.kernel - 1), recurrent=False)
        unit = StatePart((self.width,), recurrent=True)
        return (RecurrentState(StateKind.RG_LRU, (conv, unit), heads=self.heads),)

    def _by_head(self) -> dict[str, tuple[int, ...]]:
        block = div_even(self.width, self.heads, "The recurrence width 'lru_width'")
        return {
            "conv_1d.weight": (self.width, 1, self.kernel),
            "conv_1d.bias": (self.width,),
            "rg_lru.recurrent_param": (self.width,),
            "rg_lru.input_gate_weight": (self.heads, block, block),
            "rg_lru.input_gate_bias": (self.heads, block),
            "rg_lru.recurrent_gate_weight": (self.heads, block, block),
            "rg_lru.recurrent_gate_bias": (self.heads, block),
        }
