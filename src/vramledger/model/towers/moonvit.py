"""MoonViT, the image encoder of Kimi-VL, Kimi-K2.5 and Kimi-K3: any resolution, rotary positions.

Keys and names are those of the published checkpoints (vLLM 0.33, kimi_k25_vit.py); the spelling of
the configuration class in transformers 5.24 is understood too.
"""

from typing import Final

from vramledger.frozen import frozen
from vramledger.model.config import Config
from vramledger.model.model import TowerInput
from vramledger.model.tensor import Role, Tensor
from vramledger.model.towers.vit import Vit, VitNames, depth, layer_norm, merged, replicated, side
from vramledger.units import div_even

_ROTARY_GRID: Final = 512
_COMPLEX64: Final = 8
_NAMES: Final = VitNames(
    layer="encoder.blocks.{}.",
    norms=("norm0", "norm1"),
    qkv=("wqkv",),
    out="wo",
    mlp=("mlp.fc0", "mlp.fc1"),
)


@frozen
class MoonVit:
    """`merge` x `merge` patches become one token."""

    vit: Vit
    patch: int
    grid_height: int  # learned positions, interpolated for other sizes
    grid_width: int
    patch_bias: bool
    merge: int

    def tensors(self, prefix: str) -> list[Tensor]:
        """The weights; `prefix` ends before ``patch_embed``."""
        role, hidden = Role.VISION, self.vit.hidden
        positions = (self.grid_height, self.grid_width, hidden)
        shape = (hidden, 3, self.patch, self.patch)
        return [
            *replicated(f"{prefix}patch_embed.proj", shape, role, bias=self.patch_bias),
            *replicated(f"{prefix}patch_embed.pos_emb", positions, role),
            *self.vit.tensors(prefix),
            *layer_norm(f"{prefix}encoder.final_layernorm", hidden, role, bias=self.vit.norm_bias),
        ]

    def largest_image(self, patches: int) -> TowerInput:
        """An image of the most patches that the published preprocessor lets through."""
        return TowerInput(
            modality="image",
            pixels=3 * patches * self.patch**2,
            tokens=merged(patches, self.merge**2),
            patches=patches,
            hidden=self.vit.hidden,
            table_bytes=self._rotary_table(),
        )

    def _rotary_table(self) -> int:
        """Complex float32 rotary factors of a 512 x 512 grid, made at the first image and kept.

        Source: vLLM 0.19, moonvit.py, Rope2DPosEmb.
        """
        width = self.vit.head_dim or self.vit.hidden // self.vit.heads
        return _ROTARY_GRID**2 * (width // 2) * _COMPLEX64


def read_moonvit(config: Config) -> MoonVit:
    """From a vision section; Kimi-K2.5 writes ``vt_`` before the keys of its tower."""

    def pick(*keys: str) -> str:
        return next((key for key in keys if config.has(key)), keys[0])

    heads = config.integer(pick("vt_num_attention_heads", "num_attention_heads"), 16)
    rms = config.text("norm_type", "layernorm") == "rmsnorm"
    linear_bias = config.flag("linear_bias", default=True)
    hidden = config.integer(pick("vt_hidden_size", "hidden_size"), 1152)
    qkv_width = config.integer("qkv_hidden_size", hidden)
    merge = config.integers("merge_kernel_size", least=1) or (2, 2)
    attention_bias = config.flag("attn_bias", default=True)
    vit = Vit(
        hidden=hidden,
        depth=depth(config, pick("vt_num_hidden_layers", "num_hidden_layers"), 27),
        heads=heads,
        intermediate=config.integer(pick("vt_intermediate_size", "intermediate_size"), 4304),
        names=_NAMES,
        norm_bias=not rms,
        qkv_bias=attention_bias,
        out_bias=attention_bias,
        mlp_bias=linear_bias,
        head_dim=div_even(qkv_width, heads, f"{config.where}: the width of the queries"),
    )
    return MoonVit(
        vit=vit,
        patch=side(config, "patch_size", 14),
        grid_height=config.integer(pick("init_pos_emb_height", "pos_emb_height"), 64),
        grid_width=config.integer(pick("init_pos_emb_width", "pos_emb_width"), 64),
        patch_bias=config.flag("patch_embed_proj_bias", default=True),
        merge=merge[0],
    )
