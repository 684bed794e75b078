"""CLIP and its kin SigLIP and SigLIP 2: one patch embedding, learned positions, layer norms.

Class defaults are those of the configuration classes in transformers 5.24.
"""

from math import isqrt
from typing import Final

from vramledger.frozen import frozen
from vramledger.model.config import Config
from vramledger.model.tensor import Role, Tensor
from vramledger.model.towers.vit import (
    PatchGrid,
    Vit,
    VitNames,
    depth,
    layer_norm,
    read_grid,
    replicated,
    side,
)

NAMES: Final = VitNames(
    layer="encoder.layers.{}.",
    norms=("layer_norm1", "layer_norm2"),
    qkv=("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    out="self_attn.out_proj",
    mlp=("mlp.fc1", "mlp.fc2"),
)


@frozen
class ClipTower:
    """A square grid of patches; CLIP adds a class token and a norm before the layers."""

    vit: Vit
    grid: PatchGrid  # SigLIP 2 bounds the patches and not the sides
    channels: int
    positions: int
    class_token: bool
    pre_norm: bool
    flat_patches: bool = False  # SigLIP 2 embeds patches with a linear layer
    pooling_head: bool = False  # SigLIP's; multimodal models usually leave it out

    def tensors(self, prefix: str) -> list[Tensor]:
        """The weights; `prefix` ends before ``embeddings``."""
        role, hidden = Role.VISION, self.vit.hidden
        found: list[Tensor] = []
        if self.class_token:
            found.append(Tensor(f"{prefix}embeddings.class_embedding", (hidden,), role))
        found += replicated(
            f"{prefix}embeddings.patch_embedding",
            (hidden, self.channels * self.grid.patch**2)
            if self.flat_patches
            else (hidden, self.channels, self.grid.patch, self.grid.patch),
            role,
            bias=not self.class_token,
        )
        found += replicated(
            f"{prefix}embeddings.position_embedding", (self.positions, hidden), role
        )
        if self.pre_norm:
            found += layer_norm(f"{prefix}pre_layrnorm", hidden, role)
        found += self.vit.tensors(prefix)
        found += layer_norm(f"{prefix}post_layernorm", hidden, role)
        return found + (self._head(f"{prefix}head.") if self.pooling_head else [])

    def _head(self, base: str) -> list[Tensor]:
        """Attention of one learned query over the patches, and an MLP."""
        role, hidden, wide = Role.VISION, self.vit.hidden, self.vit.intermediate
        return [
            Tensor(f"{base}probe", (1, 1, hidden), role),
            Tensor(f"{base}attention.in_proj_weight", (3 * hidden, hidden), role),
            Tensor(f"{base}attention.in_proj_bias", (3 * hidden,), role),
            *replicated(f"{base}attention.out_proj", (hidden, hidden), role, bias=True),
            *layer_norm(f"{base}layernorm", hidden, role),
            *replicated(f"{base}mlp.fc1", (wide, hidden), role, bias=True),
            *replicated(f"{base}mlp.fc2", (hidden, wide), role, bias=True),
        ]


def read_clip(config: Config) -> ClipTower:
    """From the vision section of a model that uses CLIP."""
    grid = read_grid(config, image=224, patch=32)
    return ClipTower(
        vit=_vit(config),
        grid=grid,
        channels=config.integer("num_channels", 3),
        positions=grid.patches + 1,
        class_token=True,
        pre_norm=True,
    )


def read_siglip(config: Config) -> ClipTower:
    """From the vision section of a model that uses SigLIP."""
    grid = read_grid(config, image=224, patch=16)
    return ClipTower(
        vit=_vit(config),
        grid=grid,
        channels=config.integer("num_channels", 3),
        positions=grid.patches,
        class_token=False,
        pre_norm=False,
        pooling_head=config.flag("vision_use_head", default=True),
    )


def read_siglip2(config: Config) -> ClipTower:
    """From the vision section of a model that uses SigLIP 2 with native resolution."""
    patch, positions = side(config, "patch_size", 16), config.integer("num_patches", 256)
    return ClipTower(
        vit=_vit(config),
        grid=PatchGrid(patch * isqrt(positions), patch),
        channels=config.integer("num_channels", 3),
        positions=positions,
        class_token=False,
        pre_norm=False,
        flat_patches=True,
        pooling_head=config.flag("vision_use_head", default=True),
    )


def _vit(config: Config) -> Vit:
    return Vit(
        hidden=config.integer("hidden_size", 768),
        depth=depth(config, "num_hidden_layers", 12),
        heads=config.integer("num_attention_heads", 12),
        intermediate=config.integer("intermediate_size", 3072),
        names=NAMES,
    )
