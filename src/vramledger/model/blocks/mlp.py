"""Dense feed-forward blocks."""

from typing import Final

from vramledger.frozen import frozen
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor

GATED: Final = ("gate_proj", "up_proj", "down_proj")
FUSED: Final = ("gate_up_proj", "gate_up_proj", "down_proj")
PLAIN: Final = ("up_proj", "down_proj")


@frozen
class Mlp:
    """Projections up to `intermediate` and down again.

    `names` ends with the projection down; two names before it make the block gated, and equal
    ones a single stored matrix.
    """

    intermediate: int
    bias: bool = False
    name: str = "mlp."
    names: tuple[str, ...] = GATED
    role: Role = Role.MLP

    def tensors(self, prefix: str, layer: int | None, hidden: int) -> list[Tensor]:
        """The weights of one layer; `prefix` ends before the block's own name."""
        base = f"{prefix}{self.name}"
        *ups, down = self.names
        found: list[Tensor] = []
        for up in ups:
            found += linear(f"{base}{up}", self.intermediate, hidden, self.role, Shard.COLUMN,
                            layer=layer, bias=self.bias)  # fmt: skip
        return found + linear(f"{base}{down}", hidden, self.intermediate, self.role, Shard.ROW,
                              layer=layer, bias=self.bias)  # fmt: skip
