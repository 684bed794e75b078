"""InternViT, the image encoder of InternVL 3: fixed tiles, a class token, scaled residuals.

Names are those of the checkpoints for transformers; defaults those of its class (5.24).
"""

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
)

_NAMES: Final = VitNames(
    layer="encoder.layer.{}.",
    norms=("layernorm_before", "layernorm_after"),
    qkv=("attention.q_proj", "attention.k_proj", "attention.v_proj"),
    out="attention.projection_layer",
    mlp=("mlp.fc1", "mlp.fc2"),
)


@frozen
class InternVit:
    """Queries and keys are normed over all heads together where the model is large."""

    vit: Vit
    grid: PatchGrid
    channels: int
    qk_norm: bool
    learned_positions: bool
    final_norm: bool

    @property
    def positions(self) -> int:
        return self.grid.patches + 1

    def tensors(self, prefix: str) -> list[Tensor]:
        """The weights; `prefix` ends before ``embeddings``."""
        role, hidden = Role.VISION, self.vit.hidden
        embed, shape = (
            f"{prefix}embeddings.",
            (hidden, self.channels, self.grid.patch, self.grid.patch),
        )
        found = [
            Tensor(f"{embed}cls_token", (1, 1, hidden), role),
            *replicated(f"{embed}patch_embeddings.projection", shape, role, bias=True),
        ]
        if self.learned_positions:
            rows = (1, self.positions, hidden)
            found.append(Tensor(f"{embed}position_embeddings", rows, role))
        found += self.vit.tensors(prefix)
        for i in range(self.vit.depth):
            found += self._beside(f"{prefix}{_NAMES.layer.format(i)}")
        return found + (layer_norm(f"{prefix}layernorm", hidden, role) if self.final_norm else [])

    def _beside(self, base: str) -> list[Tensor]:
        role, hidden = Role.VISION, self.vit.hidden
        found = [Tensor(f"{base}lambda_{i}", (hidden,), role) for i in (1, 2)]
        if self.qk_norm:
            for name in ("q_norm", "k_norm"):
                found += layer_norm(f"{base}attention.{name}", hidden, role, bias=False)
        return found


def read_internvit(config: Config) -> InternVit:
    """From the vision section of an InternVL model."""
    vit = Vit(
        hidden=config.integer("hidden_size", 1024),
        depth=depth(config, "num_hidden_layers", 24),
        heads=config.integer("num_attention_heads", 16),
        intermediate=config.integer("intermediate_size", 4096),
        names=_NAMES,
        norm_bias=config.text("norm_type", "layer_norm") == "layer_norm",
        qkv_bias=config.flag("attention_bias", default=False),
    )
    return InternVit(
        vit=vit,
        grid=read_grid(config, image=448, patch=14),
        channels=config.integer("num_channels", 3),
        qk_norm=config.flag("use_qk_norm", default=False),
        learned_positions=config.flag("use_absolute_position_embeddings", default=True),
        final_norm=not config.flag("use_mean_pooling", default=True),
    )
