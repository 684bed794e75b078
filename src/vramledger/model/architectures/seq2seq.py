"""Encoder-decoder models: an encoder's layers beside a decoder that reads its output."""

from collections.abc import Sequence
from dataclasses import replace

from vramledger.frozen import frozen
from vramledger.model.architectures.decoder import Layer
from vramledger.model.blocks.attention import GroupedAttention
from vramledger.model.blocks.side_by_side import SideBySide
from vramledger.model.blocks.source_attention import SourceAttention
from vramledger.model.parts import norm
from vramledger.model.tensor import Role, Tensor


@frozen
class Encoder:
    """A stack of equal layers; `role` replaces the roles of their weights, None keeps them."""

    layer: Layer
    count: int
    hidden: int
    name: str = "model.encoder.layers.{}."
    role: Role | None = None

    def tensors(self) -> list[Tensor]:
        """The weights; they belong to no decoder layer."""
        return [
            replace(tensor, layer=None, role=self.role or tensor.role)
            for i in range(self.count)
            for tensor in self.layer.tensors(self.name.format(i), i, self.hidden)
        ]


def reading_source(
    itself: GroupedAttention, source: GroupedAttention, source_tokens: int
) -> SideBySide:
    """Self-attention, then attention over at most `source_tokens` encoder positions."""
    return SideBySide(itself, SourceAttention(source, source_tokens))


def position_table(name: str, rows: int, width: int, role: Role = Role.OTHER) -> Tensor:
    """Learned positions; every rank holds them all."""
    return Tensor(f"{name}.weight", (rows, width), role)


def outside_layers(names: Sequence[str], width: int, *, bias: bool) -> list[Tensor]:
    """Norms that stand outside the layers."""
    return [tensor for name in names for tensor in norm(name, width, bias=bias)]
