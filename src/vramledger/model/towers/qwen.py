"""Image encoders of Qwen2-VL, Qwen2.5-VL, Qwen3-VL (and Qwen3.5) and GLM-4.5V.

All cut images of any aspect ratio into patches two frames deep and merge squares of patches into
one token. Class defaults are those of the configuration classes in transformers 5.24.
"""

from dataclasses import field, replace
from typing import Final

from vramledger.frozen import frozen
from vramledger.model.config import Config
from vramledger.model.model import TowerInput
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor
from vramledger.model.towers.vit import (
    Vit,
    VitNames,
    depth,
    layer_norm,
    merged,
    read_grid,
    replicated,
    side,
)

_ROLE: Final = Role.VISION


def _names(mlp: tuple[str, ...]) -> VitNames:
    return VitNames(
        layer="blocks.{}.", norms=("norm1", "norm2"), qkv=("attn.qkv",), out="attn.proj", mlp=mlp
    )


_GATED: Final = _names(("mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"))


@frozen
class QwenTower:
    """A stack of layers, and what surrounds it as a list of weights."""

    vit: Vit
    patch: int
    merge: int
    channels: int
    frames: int  # a still image is repeated to this many frames
    levels: int  # hidden states handed on per token
    around: tuple[Tensor, ...] = field(repr=False)  # patch embedding, positions, merger

    def tensors(self, prefix: str) -> list[Tensor]:
        """The weights; `prefix` ends before ``patch_embed``."""
        outer = [
            Tensor(f"{prefix}{t.name}", t.shape, t.role, t.shard, linear=t.linear)
            for t in self.around
        ]
        return [*outer, *self.vit.tensors(prefix)]

    def largest_image(self, pixels: int) -> TowerInput:
        """An image of the most pixels that the published preprocessor lets through."""
        tokens = merged(pixels, (self.patch * self.merge) ** 2)
        patches = tokens * self.merge**2
        return TowerInput(
            modality="image",
            pixels=self.channels * patches * self.patch**2 * self.frames,
            tokens=tokens,
            patches=patches,
            hidden=self.vit.hidden,
            levels=self.levels,
        )

    def largest_video(self, pixels: int) -> TowerInput:
        """Frames as large as an image, taken together as many as the tower's kernel spans."""
        return replace(self.largest_image(pixels), modality="video", frames_each=self.frames)


def read_qwen2(config: Config) -> QwenTower:
    """Qwen2-VL: here ``hidden_size`` is the language model's width, ``embed_dim`` the tower's."""
    width, ratio = config.integer("embed_dim", 1280), config.integer("mlp_ratio", 4)
    vit = Vit(
        hidden=width,
        depth=depth(config, "depth", 32),
        heads=config.integer("num_heads", 16),
        intermediate=width * ratio,
        names=_names(("mlp.fc1", "mlp.fc2")),
    )
    merge = config.integer("spatial_merge_size", 2)
    merger = _sequential_merger(width, merge, config.integer("hidden_size", 3584), bias=True)
    return _tower(config, vit, merger, patch_bias=False)


def read_qwen2_5(config: Config) -> QwenTower:
    """Qwen2.5-VL: RMS norms and a gated MLP."""
    width = config.integer("hidden_size", 3584)
    vit = Vit(
        hidden=width,
        depth=depth(config, "depth", 32),
        heads=config.integer("num_heads", 16),
        intermediate=config.integer("intermediate_size", 3420),
        names=_GATED,
        norm_bias=False,
    )
    merge = config.integer("spatial_merge_size", 2)
    out = config.integer("out_hidden_size", 3584)
    return _tower(config, vit, _sequential_merger(width, merge, out, bias=False), patch_bias=False)


def read_qwen3(config: Config, *, deepstack: tuple[int, ...] = (8, 16, 24)) -> QwenTower:
    """Qwen3-VL: learned positions, and one more merger a layer of ``deepstack_visual_indexes``."""
    width = config.integer("hidden_size", 1152)
    vit = Vit(
        hidden=width,
        depth=depth(config, "depth", 27),
        heads=config.integer("num_heads", 16),
        intermediate=config.integer("intermediate_size", 4304),
        names=_names(("mlp.linear_fc1", "mlp.linear_fc2")),
    )
    wide = width * config.integer("spatial_merge_size", 2) ** 2
    out = config.integer("out_hidden_size", 3584)
    indexes = config.integers("deepstack_visual_indexes")
    around = [
        *replicated("pos_embed", (config.integer("num_position_embeddings", 2304), width), _ROLE),
        *_merger("merger.", width, wide, out),
    ]
    deep = len(deepstack if indexes is None else indexes)
    for i in range(deep):
        around += _merger(f"deepstack_merger_list.{i}.", wide, wide, out)
    return _tower(config, vit, around, patch_bias=True, patch_default=16, levels=1 + deep)


def read_glm4v(config: Config) -> QwenTower:
    """GLM-4.5V: merges by a strided convolution; the layers' MLP is as wide as the output."""
    width, out = config.integer("hidden_size", 1536), config.integer("out_hidden_size", 4096)
    grid = read_grid(config, image=336, patch=14)
    merge, wide = (
        config.integer("spatial_merge_size", 2),
        config.integer("intermediate_size", 13696),
    )
    vit = Vit(
        hidden=width,
        depth=depth(config, "depth", 24),
        heads=config.integer("num_heads", 12),
        intermediate=out,
        names=_GATED,
        norm_bias=False,
        qkv_bias=config.flag("attention_bias", default=False),
        out_bias=False,
        mlp_bias=False,
    )
    around = [
        *replicated("embeddings.position_embedding", (grid.patches, width), _ROLE),
        *layer_norm("post_conv_layernorm", width, _ROLE, bias=False),
        *layer_norm("post_layernorm", width, _ROLE, bias=False),
        *replicated("downsample", (out, width, merge, merge), _ROLE, bias=True),
        *linear("merger.proj", out, out, _ROLE, Shard.COLUMN),
        *layer_norm("merger.post_projection_norm", out, _ROLE),
        *linear("merger.gate_proj", wide, out, _ROLE, Shard.COLUMN),
        *linear("merger.up_proj", wide, out, _ROLE, Shard.COLUMN),
        *linear("merger.down_proj", out, wide, _ROLE, Shard.ROW),
    ]
    return _tower(config, vit, around, patch_bias=True)


def _tower(
    config: Config,
    vit: Vit,
    around: list[Tensor],
    *,
    patch_bias: bool,
    patch_default: int = 14,
    levels: int = 1,
) -> QwenTower:
    patch, frames = (
        side(config, "patch_size", patch_default),
        side(config, "temporal_patch_size", 2),
    )
    key = "in_channels" if config.has("in_channels") else "in_chans"
    channels = config.integer(key, 3)
    shape = (vit.hidden, channels, frames, patch, patch)
    embed = replicated("patch_embed.proj", shape, _ROLE, bias=patch_bias)
    return QwenTower(
        vit=vit,
        patch=patch,
        merge=config.integer("spatial_merge_size", 2),
        channels=channels,
        frames=frames,
        levels=levels,
        around=(*embed, *around),
    )


def _sequential_merger(width: int, merge: int, out: int, *, bias: bool) -> list[Tensor]:
    """A norm, then two layers that the checkpoint numbers; `bias` is of the norm."""
    wide = width * merge**2
    return [
        *layer_norm("merger.ln_q", width, _ROLE, bias=bias),
        *linear("merger.mlp.0", wide, wide, _ROLE, Shard.COLUMN, bias=True),
        *linear("merger.mlp.2", out, wide, _ROLE, Shard.ROW, bias=True),
    ]


def _merger(prefix: str, norm_width: int, wide: int, out: int) -> list[Tensor]:
    return [
        *layer_norm(f"{prefix}norm", norm_width, _ROLE),
        *linear(f"{prefix}linear_fc1", wide, wide, _ROLE, Shard.COLUMN, bias=True),
        *linear(f"{prefix}linear_fc2", out, wide, _ROLE, Shard.ROW, bias=True),
    ]
