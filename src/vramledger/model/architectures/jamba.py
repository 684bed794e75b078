"""JambaForCausalLM: Mamba-1 with attention every few layers, experts every other layer."""

from collections.abc import Callable
from typing import Final

from vramledger.model.architectures.decoder import Decoder, Frame, Layer, Norms
from vramledger.model.architectures.mamba import dt_rank
from vramledger.model.architectures.shape import Defaults, read_shape
from vramledger.model.blocks.attention import GroupedAttention
from vramledger.model.blocks.mamba1 import Mamba1
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.blocks.moe import Moe
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape

_DEFAULTS: Final = Defaults(4096, 32, 32, 14336, 65536, kv_heads=8, positions=262144)
_NORMS: Final = Norms(("input_layernorm", "pre_ff_layernorm"))


def build(config: Config, model_id: str) -> Model:
    """The hybrid; a period and an offset each place attention and experts."""
    text = read_shape(config, _DEFAULTS)
    attends = _placement(config, "attn_layer", period=8, offset=4)
    routes = _placement(config, "expert_layer", period=2, offset=1)
    attention = GroupedAttention(text.heads, text.kv_heads, text.head_dim)
    mixer = _mixer(config, text.hidden)
    dense, experts = Mlp(text.intermediate, name="feed_forward."), _experts(config, text)
    routed = experts.experts > 1
    return Decoder(
        architecture="JambaForCausalLM",
        text=text,
        layers=tuple(
            Layer(
                attention if attends(i) else mixer,
                experts if routed and routes(i) else dense,
                _NORMS,
            )
            for i in range(text.layers)
        ),
        tied=config.flag("tie_word_embeddings", default=False),
        frame=Frame(norm="model.final_layernorm"),
    ).model(config, model_id)


def _placement(config: Config, key: str, *, period: int, offset: int) -> Callable[[int], bool]:
    every = config.integer(f"{key}_period", period)
    first = config.integer(f"{key}_offset", offset, least=0)
    return lambda layer: layer % every == first


def _mixer(config: Config, hidden: int) -> Mamba1:
    return Mamba1(
        width=config.integer("mamba_expand", 2) * hidden,
        state=config.integer("mamba_d_state", 16),
        kernel=config.integer("mamba_d_conv", 4),
        dt_rank=dt_rank(config, "mamba_dt_rank", hidden),
        bias=config.flag("mamba_proj_bias", default=False),
        conv_bias=config.flag("mamba_conv_bias", default=True),
        inner_norms=True,
        name="mamba.",
    )


def _experts(config: Config, text: TextShape) -> Moe:
    return Moe(
        experts=config.integer("num_experts", 16),
        per_token=config.integer("num_experts_per_tok", 2),
        intermediate=text.intermediate,
        router="router",
        name="feed_forward.",
    )
