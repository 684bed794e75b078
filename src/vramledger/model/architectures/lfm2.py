"""Lfm2ForCausalLM: short convolutions with attention layers between them."""

from dataclasses import replace
from typing import Final

from vramledger.errors import BadInput
from vramledger.model.architectures.decoder import Decoder, Frame, Layer, Norms
from vramledger.model.architectures.shape import Defaults, read_shape
from vramledger.model.architectures.windows import FULL, layer_kinds
from vramledger.model.blocks.attention import GroupedAttention, ProjectionNames, QueryKeyNorm
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.blocks.short_conv import ShortConv
from vramledger.model.config import LARGEST_DIMENSION, Config
from vramledger.model.model import Model
from vramledger.units import round_up

_DEFAULTS: Final = Defaults(2560, 32, 32, 12288, 65536, kv_heads=8, positions=128000)
_NORMS: Final = Norms(("operator_norm", "ffn_norm"))


def build(config: Config, model_id: str) -> Model:
    """The hybrid; ``layer_types``, else ``full_attn_idxs``, places attention (all if neither)."""
    text = replace(read_shape(config, _DEFAULTS), intermediate=_intermediate(config))
    indices = config.integers("full_attn_idxs")
    default = [FULL if indices is None or i in indices else "conv" for i in range(text.layers)]
    attention = GroupedAttention(
        text.heads,
        text.kv_heads,
        text.head_dim,
        norm=QueryKeyNorm("q_layernorm", "k_layernorm"),
        names=ProjectionNames(out="out_proj"),
    )
    mixer = ShortConv(
        text.hidden,
        kernel=config.integer("conv_L_cache", 3),
        bias=config.flag("conv_bias", default=False),
    )
    block = Mlp(text.intermediate, name="feed_forward.", names=("w1", "w3", "w2"))
    tied = "tie_embedding" if config.has("tie_embedding") else "tie_word_embeddings"
    return Decoder(
        architecture="Lfm2ForCausalLM",
        text=text,
        layers=tuple(
            Layer(attention if kind == FULL else mixer, block, _NORMS)
            for kind in layer_kinds(config, text.layers, default, known=(FULL, "conv"))
        ),
        tied=config.flag(tied, default=True),
        frame=Frame(norm="model.embedding_norm"),
    ).model(config, model_id)


def _intermediate(config: Config) -> int:
    """The MLP's width: two thirds of the stated one, scaled, rounded up, unless told to keep it.

    Raises:
        BadInput: scaling leaves no width, or an absurd one.
    """
    key = "block_ff_dim" if config.has("block_ff_dim") else "intermediate_size"
    stated = config.integer(key, 12288)
    if not config.flag("block_auto_adjust_ff_dim", default=True):
        return stated
    factor = config.number("block_ffn_dim_multiplier", 1.0)
    scaled = factor * (2 * stated // 3)
    if not 1 <= scaled < LARGEST_DIMENSION:
        raise BadInput(
            f"{config.where}: 'block_ffn_dim_multiplier' is {factor}, which leaves no usable width "
            f"of {stated} for the MLP; correct it."
        )
    return round_up(int(scaled), config.integer("block_multiple_of", 256))
