"""Kimi Delta Attention: a delta rule that forgets per channel (Kimi-Linear, Kimi-K3)."""

from vramledger.frozen import frozen
from vramledger.model.cache import CacheSpec, RecurrentState, StateKind, StatePart
from vramledger.model.dtype import DType
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor


@frozen
class Kda:
    """vLLM splits it by heads; every rank repeats the way into the low-rank gates."""

    heads: int
    head_dim: int
    kernel: int
    full_rank_gate: bool = False  # Kimi-K3: one g_proj in place of the pair g_a, g_b
    name: str = "self_attn."

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        """The weights of one layer; `prefix` ends before the mixer's own name."""
        base, role, units = f"{prefix}{self.name}", Role.STATE, self.heads
        width = self.heads * self.head_dim
        found: list[Tensor] = []
        for name in ("q", "k", "v"):
            found += linear(f"{base}{name}_proj", width, hidden, role, Shard.COLUMN,
                            layer=layer, units=units)  # fmt: skip
            found.append(
                Tensor(f"{base}{name}_conv1d.weight", (width, 1, self.kernel), role,
                       Shard.COLUMN, layer, units=units)
            )  # fmt: skip
        return [
            *found,
            *self._low_rank(f"{base}f", layer, hidden),
            *self._output_gate(base, layer, hidden),
            *linear(f"{base}b_proj", self.heads, hidden, role, Shard.COLUMN, layer=layer,
                    units=units),
            Tensor(f"{base}A_log", (1, 1, self.heads, 1), role, layer=layer),
            Tensor(f"{base}dt_bias", (width,), role, Shard.COLUMN, layer, units=units,
                   dtype=DType.FLOAT32, class_dtype=DType.FLOAT32),
            Tensor(f"{base}o_norm.weight", (self.head_dim,), Role.NORM, layer=layer),
            *linear(f"{base}o_proj", hidden, width, role, Shard.ROW, layer=layer, units=units),
        ]  # fmt: skip

    def cache(self) -> tuple[CacheSpec, ...]:
        """The one state that the layer owns; queries, keys and values share the convolution."""
        conv = StatePart((3 * self.heads * self.head_dim, self.kernel - 1), recurrent=False)
        rule = StatePart((self.heads, self.head_dim, self.head_dim), recurrent=True)
        return (RecurrentState(StateKind.KDA, (conv, rule), heads=self.heads),)

    def _output_gate(self, base: str, layer: int, hidden: int) -> list[Tensor]:
        if not self.full_rank_gate:
            return self._low_rank(f"{base}g", layer, hidden)
        return linear(f"{base}g_proj", self.heads * self.head_dim, hidden, Role.STATE,
                      Shard.COLUMN, layer=layer, units=self.heads)  # fmt: skip

    def _low_rank(self, name: str, layer: int, hidden: int) -> list[Tensor]:
        """A gate through a bottleneck as wide as one head."""
        width = self.heads * self.head_dim
        return [
            *linear(f"{name}_a_proj", self.head_dim, hidden, Role.STATE, Shard.REPLICATED,
                    layer=layer),
            *linear(f"{name}_b_proj", width, self.head_dim, Role.STATE, Shard.COLUMN,
                    layer=layer, units=self.heads),
        ]  # fmt: skip
