"""Falcon: the first decoder (one KV head, one norm) and the new one (grouped heads, two norms).

Class defaults are those of the configuration class in transformers 5.24.
"""

from dataclasses import replace
from typing import Final

from vramledger.model.architectures.decoder import Frame, Norms
from vramledger.model.architectures.shape import Keys, keyed, read_kv_heads
from vramledger.model.architectures.style import Style, Switch, build_style
from vramledger.model.blocks.attention import ProjectionNames
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape

_KEYS: Final = Keys(
    hidden=("hidden_size", "n_embed"),
    layers=("num_hidden_layers", "n_layer"),
    heads=("num_attention_heads", "n_head"),
    intermediate=("ffn_hidden_size",),
)
_BIAS: Final = Switch("bias")


def _shape(config: Config) -> TextShape:
    """Falcon's dimensions; before the new decoder ``multi_query`` means a single KV head."""
    text = keyed(_KEYS)(config)
    grouped = config.flag("new_decoder_architecture", default=False)
    single = config.flag("multi_query", default=True) and not grouped
    kv_heads = 1 if single else read_kv_heads(config, "num_kv_heads", text.heads, 0)
    return replace(text, kv_heads=kv_heads)


def _norms(config: Config) -> Norms:
    """Two norms in sequence, or one or two before attention and MLP in parallel."""
    if not config.flag("parallel_attn", default=True):
        return Norms(bias=True)
    grouped = config.flag("new_decoder_architecture", default=False)
    two = config.integer("num_ln_in_parallel_attn", 2 if grouped else 1) == 2
    return Norms(("ln_attn", "ln_mlp") if two else ("input_layernorm",), bias=True)


def build(config: Config, model_id: str) -> Model:
    """A Falcon decoder of either kind."""
    style = Style(
        "FalconForCausalLM",
        tied=Switch("tie_word_embeddings", default=True),
        qkv_bias=_BIAS,
        out_bias=_BIAS,
        mlp_bias=_BIAS,
        norms=_norms(config),
        attention="self_attention.",
        projections=ProjectionNames.fused("query_key_value", "dense"),
        mlp_names=("dense_h_to_4h", "dense_4h_to_h"),
        frame=Frame(
            embed="transformer.word_embeddings",
            layer="transformer.h.{}.",
            norm="transformer.ln_f",
        ),
        shape=_shape,
    )
    return build_style(style, config, model_id)
