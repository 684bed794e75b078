"""Short convolution between two multiplicative gates (LFM2)."""

from vramledger.frozen import frozen
from vramledger.model.cache import CacheSpec, RecurrentState, StateKind, StatePart
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor


@frozen
class ShortConv:
    """As wide as the model; vLLM splits it by channels."""

    width: int
    kernel: int
    bias: bool
    name: str = "conv."

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        """The weights of one layer; `prefix` ends before the mixer's own name."""
        base, role, width = f"{prefix}{self.name}", Role.STATE, self.width
        shapes: dict[str, tuple[int, ...]] = {"weight": (width, 1, self.kernel)}
        if self.bias:
            shapes["bias"] = (width,)
        return [
            *(Tensor(f"{base}conv.{kind}", shape, role, Shard.COLUMN, layer)
              for kind, shape in shapes.items()),
            *linear(f"{base}in_proj", 3 * width, hidden, role, Shard.COLUMN,
                    layer=layer, bias=self.bias),
            *linear(f"{base}out_proj", hidden, width, role, Shard.ROW,
                    layer=layer, bias=self.bias),
        ]  # fmt: skip

    def cache(self) -> tuple[CacheSpec, ...]:
        """The one state that the layer owns: the last inputs of the convolution."""
        part = StatePart((self.width, self.kernel - 1), recurrent=False)
        return (RecurrentState(StateKind.SHORT_CONV, (part,), heads=self.width),)
