"""Llama 3.2 Vision's image encoder: up to four tiles, gated tile positions, two stacks of layers.

Class defaults are those of the configuration class in transformers 5.24.
"""

from dataclasses import replace
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
    norms=("input_layernorm", "post_attention_layernorm"),
    qkv=("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    out="self_attn.o_proj",
    mlp=("mlp.fc1", "mlp.fc2"),
)
_ASPECT_RATIOS: Final = 8  # arrangements of up to four tiles


@frozen
class MllamaTower:
    """`output` is the width that the projector reads: the last layer and a few earlier ones."""

    vit: Vit
    global_layers: int
    grid: PatchGrid
    channels: int
    tiles: int
    aspect_ratios: int
    output: int

    @property
    def positions(self) -> int:
        """Patches of a tile and its class token."""
        return self.grid.patches + 1

    def tensors(self, prefix: str) -> list[Tensor]:
        """The weights; `prefix` ends before ``patch_embedding``."""
        role, hidden = Role.VISION, self.vit.hidden
        shape = (hidden, self.channels, self.grid.patch, self.grid.patch)
        gated = f"{prefix}gated_positional_embedding."
        rows, tile = self.aspect_ratios + 1, self.tiles * hidden
        found = [
            Tensor(f"{prefix}class_embedding", (hidden,), role),
            *replicated(f"{prefix}patch_embedding", shape, role),
            Tensor(f"{gated}gate", (1,), role),
            Tensor(f"{gated}embedding", (self.positions, hidden), role),
            *replicated(f"{gated}tile_embedding", (rows, tile * self.positions), role),
        ]
        for name in ("pre", "post"):
            stem = f"{prefix}{name}_tile_positional_embedding."
            found.append(Tensor(f"{stem}gate", (1,), role))
            found += replicated(f"{stem}embedding", (rows, tile), role)
            found += layer_norm(f"{prefix}layernorm_{name}", hidden, role)
        return [*found, *self.vit.tensors(prefix), *self._global(prefix)]

    def largest_input(self) -> TowerInput:
        """An image that fills all tiles; the decoder reads it by cross-attention alone."""
        return TowerInput(
            modality="image",
            pixels=self.tiles * self.channels * self.grid.image**2,
            tokens=self.tiles * self.positions,
            patches=self.tiles * self.positions,
            hidden=self.vit.hidden,
        )

    def _global(self, prefix: str) -> list[Tensor]:
        """The second stack, whose halves are gated."""
        names = replace(_NAMES, layer="global_transformer.layers.{}.")
        stack = replace(self.vit, depth=self.global_layers, names=names)
        gates = [
            Tensor(f"{prefix}{names.layer.format(i)}gate_{half}", (1,), Role.VISION)
            for i in range(self.global_layers)
            for half in ("attn", "ffn")
        ]
        return [*stack.tensors(prefix), *gates]


def read_mllama(config: Config) -> MllamaTower:
    """From the vision section of a Llama 3.2 Vision model."""
    vit = Vit(
        hidden=config.integer("hidden_size", 1280),
        depth=depth(config, "num_hidden_layers", 32),
        heads=config.integer("attention_heads", 16),
        intermediate=config.integer("intermediate_size", 5120),
        names=_NAMES,
        qkv_bias=False,
        out_bias=False,
    )
    ratios = config.items("supported_aspect_ratios")
    return MllamaTower(
        vit=vit,
        global_layers=depth(config, "num_global_layers", 8),
        grid=read_grid(config, image=448, patch=14),
        channels=config.integer("num_channels", 3),
        tiles=config.integer("max_num_tiles", 4),
        aspect_ratios=_ASPECT_RATIOS if ratios is None else len(ratios),
        output=config.integer("vision_output_dim", 7680),
    )
