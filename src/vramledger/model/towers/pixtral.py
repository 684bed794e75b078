"""Pixtral's image encoder: any aspect ratio up to a largest side, rotary positions."""

from typing import Final

from vramledger.frozen import frozen
from vramledger.model.config import Config
from vramledger.model.model import TowerInput
from vramledger.model.tensor import Role, Tensor
from vramledger.model.towers.vit import (
    PatchGrid,
    Vit,
    VitNames,
    depth,
    layer_norm,
    read_grid,
    replicated,
)

_NAMES: Final = VitNames(
    layer="transformer.layers.{}.",
    norms=("attention_norm", "ffn_norm"),
    qkv=("attention.q_proj", "attention.k_proj", "attention.v_proj"),
    out="attention.o_proj",
    mlp=("feed_forward.gate_proj", "feed_forward.up_proj", "feed_forward.down_proj"),
)


@frozen
class PixtralTower:
    """RMS norms, a gated MLP, and no bias anywhere."""

    vit: Vit
    grid: PatchGrid  # of the largest image
    channels: int

    def tensors(self, prefix: str) -> list[Tensor]:
        """The weights; `prefix` ends before ``patch_conv``."""
        shape = (self.vit.hidden, self.channels, self.grid.patch, self.grid.patch)
        return [
            *replicated(f"{prefix}patch_conv", shape, Role.VISION),
            *layer_norm(f"{prefix}ln_pre", self.vit.hidden, Role.VISION, bias=False),
            *self.vit.tensors(prefix),
        ]

    def largest_input(self, merge: int) -> TowerInput:
        """A square image of the longest side; `merge` x `merge` patches become one token."""
        return TowerInput(
            modality="image",
            pixels=self.channels * self.grid.image**2,
            tokens=max(1, self.grid.side // merge) ** 2,
            patches=self.grid.patches,
            hidden=self.vit.hidden,
        )


def read_pixtral(config: Config, *, image: int = 1024, patch: int = 16) -> PixtralTower:
    """From a vision section; `image` and `patch` are what the outer class assumes."""
    vit = Vit(
        hidden=config.integer("hidden_size", 1024),
        depth=depth(config, "num_hidden_layers", 24),
        heads=config.integer("num_attention_heads", 16),
        intermediate=config.integer("intermediate_size", 4096),
        names=_NAMES,
        norm_bias=False,
        qkv_bias=False,
        out_bias=False,
        mlp_bias=False,
    )
    return PixtralTower(
        vit=vit,
        grid=read_grid(config, image=image, patch=patch),
        channels=config.integer("num_channels", 3),
    )
