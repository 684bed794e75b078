"""Mamba-1: a selective scan per channel."""

from vramledger.frozen import frozen
from vramledger.model.cache import CacheSpec, RecurrentState, StateKind, StatePart
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor


@frozen
class Mamba1:
    """Every tensor splits by channels, as in vLLM's MambaMixer."""

    width: int  # channels of the scan
    state: int
    kernel: int
    dt_rank: int
    bias: bool  # of in_proj and out_proj
    conv_bias: bool
    inner_norms: bool = False  # Jamba normalises dt, B and C
    name: str = "mixer."

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        """The weights of one layer; `prefix` ends before the mixer's own name."""
        base, role, width = f"{prefix}{self.name}", Role.STATE, self.width
        low = self.dt_rank + 2 * self.state
        return [
            *linear(f"{base}in_proj", 2 * width, hidden, role, Shard.COLUMN,
                    layer=layer, bias=self.bias),
            *linear(f"{base}x_proj", low, width, role, Shard.ROW, layer=layer),
            *linear(f"{base}dt_proj", width, self.dt_rank, role, Shard.COLUMN,
                    layer=layer, bias=True),
            *linear(f"{base}out_proj", hidden, width, role, Shard.ROW,
                    layer=layer, bias=self.bias),
            *self._by_channel(base, layer),
            *self._norms(base, layer),
        ]  # fmt: skip

    def cache(self) -> tuple[CacheSpec, ...]:
        """The one state that the layer owns."""
        conv = StatePart((self.width, self.kernel - 1), recurrent=False)
        scan = StatePart((self.width, self.state), recurrent=True)
        return (RecurrentState(StateKind.MAMBA1, (conv, scan), heads=self.width),)

    def _by_channel(self, base: str, layer: int) -> list[Tensor]:
        shapes: dict[str, tuple[int, ...]] = {
            "conv1d.weight": (self.width, 1, self.kernel),
            "A_log": (self.width, self.state),
            "D": (self.width,),
        }
        if self.conv_bias:
            shapes["conv1d.bias"] = (self.width,)
        return [
            Tensor(f"{base}{name}", shape, Role.STATE, Shard.COLUMN, layer)
            for name, shape in shapes.items()
        ]

    def _norms(self, base: str, layer: int) -> list[Tensor]:
        if not self.inner_norms:
            return []
        widths = {"dt": self.dt_rank, "b": self.state, "c": self.state}
        return [
            Tensor(f"{base}{name}_layernorm.weight", (width,), Role.NORM, layer=layer)
            for name, width in widths.items()
        ]
