"""MiniMaxM3SparseForConditionalGeneration: CLIP-like layers with 3D patches, merged after projection.

Class defaults are those of the configuration classes in transformers 5.24.
"""

from typing import Final

from vramledger.model.architectures.multimodal import (
    Tower,
    compose,
    inner_text,
    read_text,
    tied_either,
    vision_config,
)
from vramledger.model.config import Config
from vramledger.model.model import Model, TowerInput
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor
from vramledger.model.towers.clip import NAMES
from vramledger.model.towers.vit import Vit, depth, layer_norm, read_grid, replicated, side

_PART: Final = inner_text("minimax_m3", tied_either)
_VISION, _PROJECTOR = Role.VISION, Role.PROJECTOR
_TOWER: Final = "vision_tower.vision_model."


def build(config: Config, model_id: str) -> Model:
    """The model; two projections to the text's width, then two more over merged patches."""
    text = read_text(config, _PART, model_id)
    vision, hidden = vision_config(config), text.text.hidden
    vit = Vit(
        hidden=vision.integer("hidden_size", 1280),
        depth=depth(vision, "num_hidden_layers", 32),
        heads=vision.integer("num_attention_heads", 16),
        intermediate=vision.integer("intermediate_size", 5120),
        names=NAMES,
    )
    merge = _merge(vision)
    weights = (
        *_tower(vision, vit),
        *_projector(vit.hidden, hidden, config.integer("projector_hidden_size", 6144), merge),
    )
    return compose(
        config,
        text,
        architecture="MiniMaxM3SparseForConditionalGeneration",
        part=_PART,
        towers=[Tower(weights, _largest(vision, vit, merge))],
    )


def _merge(config: Config) -> int:
    """Patches along a side that become one token; published files nest the key."""
    nested = config.sub("img_token_compression_config")
    return config.integer(
        "spatial_merge_size", nested.integer("spatial_merge_size", 2) if nested else 2
    )


def _tower(config: Config, vit: Vit) -> list[Tensor]:
    patch, frames = side(config, "patch_size", 14), side(config, "temporal_patch_size", 2)
    shape = (vit.hidden, config.integer("num_channels", 3), frames, patch, patch)
    return [
        *replicated(f"{_TOWER}embeddings.patch_embedding", shape, _VISION),
        *layer_norm(f"{_TOWER}pre_layrnorm", vit.hidden, _VISION),
        *vit.tensors(_TOWER),
    ]


def _projector(width: int, hidden: int, inner: int, merge: int) -> list[Tensor]:
    merged = hidden * merge**2
    stages = (
        ("multi_modal_projector", width),
        ("patch_merge_mlp", merged),
    )
    return [
        tensor
        for name, inputs in stages
        for tensor in (
            *linear(f"{name}.linear_1", inner, inputs, _PROJECTOR, Shard.COLUMN, bias=True),
            *linear(f"{name}.linear_2", hidden, inner, _PROJECTOR, Shard.ROW, bias=True),
        )
    ]


def _largest(config: Config, vit: Vit, merge: int) -> TowerInput:
    """A square of the largest side."""
    grid = read_grid(config, image=2016, patch=14)
    pixels = config.integer("num_channels", 3) * grid.image**2
    tokens = max(1, grid.side // merge) ** 2
    return TowerInput("image", pixels, tokens, grid.patches, vit.hidden)
