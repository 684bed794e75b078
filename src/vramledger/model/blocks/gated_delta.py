"""Gated DeltaNet: linear attention with a decaying delta rule (Qwen3-Next, Qwen3.5)."""

from vramledger.frozen import frozen
from vramledger.model.cache import CacheSpec, RecurrentState, StateKind, StatePart
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor


@frozen
class GatedDelta:
    """vLLM splits it by key heads, each with its share of the value heads."""

    key_heads: int
    value_heads: int
    key_dim: int  # per head
    value_dim: int
    kernel: int
    fused: bool  # Qwen3-Next stores q, k, v, z and b, a as two matrices, Qwen3.5 as four
    name: str = "linear_attn."

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        """The weights of one layer; `prefix` ends before the mixer's own name."""
        base, role, units = f"{prefix}{self.name}", Role.STATE, self.key_heads
        values, conv_width = self.value_heads * self.value_dim, self._conv_width
        found: list[Tensor] = []
        for name, rows in self._inputs().items():
            found += linear(f"{base}in_proj_{name}", rows, hidden, role, Shard.COLUMN,
                            layer=layer, units=units)  # fmt: skip
        return [
            *found,
            Tensor(f"{base}conv1d.weight", (conv_width, 1, self.kernel), role, Shard.COLUMN,
                   layer, units=units),
            Tensor(f"{base}dt_bias", (self.value_heads,), role, Shard.COLUMN, layer, units=units),
            Tensor(f"{base}A_log", (self.value_heads,), role, Shard.COLUMN, layer, units=units),
            Tensor(f"{base}norm.weight", (self.value_dim,), Role.NORM, layer=layer),
            *linear(f"{base}out_proj", hidden, values, role, Shard.ROW, layer=layer, units=units),
        ]  # fmt: skip

    def cache(self) -> tuple[CacheSpec, ...]:
        """The one state that the layer owns."""
        conv = StatePart((self._conv_width, self.kernel - 1), recurrent=False)
        rule = StatePart((self.value_heads, self.value_dim, self.key_dim), recurrent=True)
        return (RecurrentState(StateKind.GATED_DELTA, (conv, rule), heads=self.key_heads),)

    @property
    def _conv_width(self) -> int:
        return 2 * self.key_heads * self.key_dim + self.value_heads * self.value_dim

    def _inputs(self) -> dict[str, int]:
        """Rows of each input projection."""
        values, gates = self.value_heads * self.value_dim, self.value_heads
        if self.fused:
            return {"qkvz": self._conv_width + values, "ba": 2 * gates}
        return {"qkv": self._conv_width, "z": values, "b": gates, "a": gates}
