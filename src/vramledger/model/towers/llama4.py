"""Llama 4's image encoder: tiles of one size, patches embedded by a linear layer, pixel shuffle.

Class defaults are those of the configuration class in transformers 5.24.
"""

from typing import Final

from vramledger.frozen import frozen
from vramledger.model.config import Config
from vramledger.model.model import TowerInput
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor
from vramledger.model.towers.vit import (
    PatchGrid,
    Vit,
    VitNames,
    depth,
    inverse,
    layer_norm,
    read_grid,
)

_NAMES: Final = VitNames(
    layer="model.layers.{}.",
    norms=("input_layernorm", "post_attention_layernorm"),
    qkv=("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    out="self_attn.o_proj",
    mlp=("mlp.fc1", "mlp.fc2"),
)
_MOST_TILES: Final = 16  # the released preprocessor's limit; a thumbnail comes on top


@frozen
class Llama4Tower:
    """`shuffle` is how many patches along a side become one before the adapter."""

    vit: Vit
    grid: PatchGrid
    channels: int
    shuffle: int
    adapter_in: int
    adapter_out: int

    def tensors(self, prefix: str) -> list[Tensor]:
        """The weights; `prefix` ends before ``patch_embedding``."""
        role, hidden = Role.VISION, self.vit.hidden
        return [
            Tensor(f"{prefix}class_embedding", (hidden,), role),
            Tensor(f"{prefix}positional_embedding_vlm", (self.grid.patches + 1, hidden), role),
            *linear(f"{prefix}patch_embedding.linear", hidden, self.channels * self.grid.patch**2,
                    role, Shard.COLUMN),
            *layer_norm(f"{prefix}layernorm_pre", hidden, role),
            *layer_norm(f"{prefix}layernorm_post", hidden, role),
            *self.vit.tensors(prefix),
            *linear(f"{prefix}vision_adapter.mlp.fc1", self.adapter_in, self.vit.intermediate,
                    role, Shard.COLUMN),
            *linear(f"{prefix}vision_adapter.mlp.fc2", self.adapter_out, self.adapter_in, role,
                    Shard.ROW),
        ]  # fmt: skip

    def largest_input(self) -> TowerInput:
        """An image of the most tiles with its thumbnail."""
        tiles = _MOST_TILES + 1
        return TowerInput(
            modality="image",
            pixels=tiles * self.channels * self.grid.image**2,
            tokens=tiles * max(1, self.grid.side // self.shuffle) ** 2,
            patches=tiles * (self.grid.patches + 1),
            hidden=self.vit.hidden,
        )


def read_llama4(config: Config) -> Llama4Tower:
    """From the vision section of a Llama 4 model."""
    vit = Vit(
        hidden=config.integer("hidden_size", 768),
        depth=depth(config, "num_hidden_layers", 34),
        heads=config.integer("num_attention_heads", 16),
        intermediate=config.integer("intermediate_size", 5632),
        names=_NAMES,
    )
    return Llama4Tower(
        vit=vit,
        grid=read_grid(config, image=448, patch=14),
        channels=config.integer("num_channels", 3),
        shuffle=inverse(config, "pixel_shuffle_ratio", 0.5),
        adapter_in=config.integer("projector_input_dim", 4096),
        adapter_out=config.integer("projector_output_dim", 4096),
    )
