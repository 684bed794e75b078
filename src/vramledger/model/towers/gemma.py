"""Gemma's encoders: the Universal Speech Model's conformer and Gemma 4's image encoder.

Class defaults are those of the configuration classes in transformers 5.24. vLLM 0.33 runs them
as transformers builds them, whole on every rank.
"""

from dataclasses import replace
from typing import Final

from vramledger.frozen import frozen
from vramledger.model.config import Config
from vramledger.model.model import TowerInput
from vramledger.model.tensor import Role, Shard, Tensor
from vramledger.model.towers.vit import Vit, VitNames, depth, layer_norm, replicated
from vramledger.units import div_even

_MEL_FRAMES_PER_SECOND: Final = 100
_CLIP_SECONDS: Final = 30
_CONV: Final = 3  # side of the two subsampling kernels, which stride by 2


@frozen
class ConformerNames:
    """What the two generations call the parts."""

    layers: str
    subsample: str  # one convolution block, by number
    first: str  # the half-step MLPs
    second: str
    attention: str
    positions: str
    norms: tuple[str, ...]
    post: str
    suffix: str = ""  # of clipped linear layers, before ".weight"


GEMMA3N: Final = ConformerNames(
    layers="conformer.{}.",
    subsample="subsample_conv_projection.conv_{}.",
    first="ffw_layer_start.",
    second="ffw_layer_end.",
    attention="attention.attn.",
    positions="attention.attn.relative_position_embedding.pos_proj",
    norms=("attention.pre_attn_norm", "attention.post_norm", "norm"),
    post="attention.post",
)
GEMMA4: Final = ConformerNames(
    layers="layers.{}.",
    subsample="subsample_conv_projection.layer{}.",
    first="feed_forward1.",
    second="feed_forward2.",
    attention="self_attn.",
    positions="self_attn.relative_k_proj",
    norms=("norm_pre_attn", "norm_post_attn", "norm_out"),
    post="self_attn.post",
    suffix=".linear",
)


@frozen
class Conformer:
    """Two convolutions, then layers of MLP, attention, convolution and MLP."""

    names: ConformerNames
    hidden: int
    depth: int
    heads: int
    kernel: int
    mels: int
    channels: tuple[int, int]
    output: int = 0  # width of a projection at the end, 0 for none

    def tensors(self, prefix: str) -> list[Tensor]:
        """The weights; `prefix` ends before ``subsample_conv_projection``."""
        role, names = Role.AUDIO, self.names
        found: list[Tensor] = []
        inputs, bins = 1, self.mels
        for i, outputs in enumerate(self.channels):
            base = f"{prefix}{names.subsample.format(i)}"
            found += replicated(f"{base}conv", (outputs, inputs, _CONV, _CONV), role)
            found += layer_norm(f"{base}norm", outputs, role, bias=False)
            inputs, bins = outputs, (bins + 2 - _CONV) // 2 + 1
        stem = f"{prefix}subsample_conv_projection.input_proj_linear"
        found += replicated(stem, (self.hidden, inputs * bins), role)
        for i in range(self.depth):
            found += self._layer(f"{prefix}{names.layers.format(i)}")
        if self.output:
            found += replicated(f"{prefix}output_proj", (self.output, self.hidden), role, bias=True)
        return found

    def largest_input(self, tokens: int) -> TowerInput:
        """A clip of 30 seconds, worth `tokens` in the prompt; two strides leave a quarter."""
        frames = _MEL_FRAMES_PER_SECOND * _CLIP_SECONDS
        return TowerInput("audio", self.mels * frames, tokens, frames // 4, self.hidden)

    def _layer(self, base: str) -> list[Tensor]:
        role, hidden, names = Role.AUDIO, self.hidden, self.names
        found = [*self._half_step(base, names.first), *self._half_step(base, names.second)]
        head_dim = div_even(hidden, self.heads, "The audio encoder's 'hidden_size'")
        found.append(Tensor(f"{base}{names.attention}per_dim_scale", (head_dim,), role))
        found += replicated(f"{base}{names.positions}", (hidden, hidden), role)
        for name in ("q_proj", "k_proj", "v_proj"):
            found += self._linear(f"{base}{names.attention}{name}", hidden, hidden)
        found += self._linear(f"{base}{names.post}", hidden, hidden)
        found += self._linear(f"{base}lconv1d.linear_start", 2 * hidden, hidden)
        found += self._linear(f"{base}lconv1d.linear_end", hidden, hidden)
        found += replicated(f"{base}lconv1d.depthwise_conv1d", (hidden, 1, self.kernel), role)
        for name in (*names.norms, "lconv1d.pre_layer_norm", "lconv1d.conv_norm"):
            found += layer_norm(f"{base}{name}", hidden, role, bias=False)
        return found

    def _half_step(self, base: str, name: str) -> list[Tensor]:
        wide, stem = 4 * self.hidden, f"{base}{name}"
        return [
            *self._linear(f"{stem}ffw_layer_1", wide, self.hidden),
            *self._linear(f"{stem}ffw_layer_2", self.hidden, wide),
            *layer_norm(f"{stem}pre_layer_norm", self.hidden, Role.AUDIO, bias=False),
            *layer_norm(f"{stem}post_layer_norm", self.hidden, Role.AUDIO, bias=False),
        ]

    def _linear(self, name: str, out: int, inputs: int) -> list[Tensor]:
        return replicated(f"{name}{self.names.suffix}", (out, inputs), Role.AUDIO)


def read_gemma3n_audio(config: Config) -> Conformer:
    """From the audio section of a Gemma 3n model."""
    return Conformer(
        names=GEMMA3N,
        hidden=config.integer("hidden_size", 1536),
        depth=depth(config, "conf_num_hidden_layers", 12),
        heads=config.integer("conf_num_attention_heads", 8),
        kernel=config.integer("conf_conv_kernel_size", 5),
        mels=config.integer("input_feat_size", 128),
        channels=_channels(config, "sscp_conv_channel_size"),
    )


def read_gemma4_audio(config: Config) -> Conformer:
    """From the audio section of a Gemma 4 model.

    The class takes as many mel bins as its first convolution has channels.
    """
    channels = _channels(config, "subsampling_conv_channels")
    return Conformer(
        names=GEMMA4,
        hidden=config.integer("hidden_size", 1024),
        depth=depth(config, "num_hidden_layers", 12),
        heads=config.integer("num_attention_heads", 8),
        kernel=config.integer("conv_kernel_size", 5),
        mels=channels[0],
        channels=channels,
        output=config.integer("output_proj_dims", 1536),
    )


def _channels(config: Config, key: str) -> tuple[int, int]:
    given = config.integers(key, least=1) or (128, 32)
    return given[0], given[-1]


@frozen
class GemmaVision:
    """Patches as flat vectors, positions by row and column, squares of patches pooled at the end."""

    vit: Vit
    patch: int
    positions: int
    pool: int  # patches along a side that become one token
    standardize: bool

    def tensors(self, prefix: str) -> list[Tensor]:
        """The weights; `prefix` ends before ``patch_embedder``."""
        role, hidden = Role.VISION, self.vit.hidden
        embed = f"{prefix}patch_embedder."
        found = [
            Tensor(f"{embed}position_embedding_table", (2, self.positions, hidden), role),
            *replicated(f"{embed}input_proj", (hidden, 3 * self.patch**2), role),
            *(replace(t, shard=Shard.REPLICATED) for t in self.vit.tensors(prefix)),
        ]
        if self.standardize:
            found += [
                Tensor(f"{prefix}std_{name}", (hidden,), Role.BUFFER) for name in ("bias", "scale")
            ]
        return found

    def largest_input(self, tokens: int) -> TowerInput:
        """An image that becomes `tokens`, the most the processor allows."""
        patches = tokens * self.pool**2
        return TowerInput("image", patches * 3 * self.patch**2, tokens, patches, self.vit.hidden)


def read_gemma4_vision(config: Config) -> GemmaVision:
    """From the vision section of a Gemma 4 model."""
    names = VitNames(
        layer="encoder.layers.{}.",
        norms=(
            "input_layernorm",
            "post_attention_layernorm",
            "pre_feedforward_layernorm",
            "post_feedforward_layernorm",
        ),
        qkv=("self_attn.q_proj.linear", "self_attn.k_proj.linear", "self_attn.v_proj.linear"),
        out="self_attn.o_proj.linear",
        mlp=("mlp.gate_proj.linear", "mlp.up_proj.linear", "mlp.down_proj.linear"),
        head_norms=("self_attn.q_norm", "self_attn.k_norm"),
    )
    bias = config.flag("attention_bias", default=False)
    vit = Vit(
        hidden=config.integer("hidden_size", 768),
        depth=depth(config, "num_hidden_layers", 16),
        heads=config.integer("num_attention_heads", 12),
        intermediate=config.integer("intermediate_size", 3072),
        names=names,
        norm_bias=False,
        qkv_bias=bias,
        out_bias=bias,
        mlp_bias=False,
        head_dim=config.integer("head_dim", 64),
        kv_heads=config.integer("num_key_value_heads", 12),
    )
    return GemmaVision(
        vit=vit,
        patch=config.integer("patch_size", 16),
        positions=config.integer("position_embedding_size", 10240),
        pool=config.integer("pooling_kernel_size", 3),
        standardize=config.flag("standardize", default=False),
    )
