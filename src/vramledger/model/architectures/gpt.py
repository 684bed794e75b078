"""Decoders in the manner of GPT: layer norms with biases, plain MLPs, often learned positions.

Class defaults are those of the configuration classes in transformers 5.24. Weights that GPT-2
stores as ``[in, out]`` are given as ``[out, in]``.
"""

from dataclasses import replace
from typing import Final

from vramledger.model.architectures.decoder import Frame, Norms
from vramledger.model.architectures.shape import Defaults, Keys, keyed
from vramledger.model.architectures.style import ON, Style, Switch, build_from
from vramledger.model.blocks.attention import ProjectionNames
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape
from vramledger.model.parts import norm
from vramledger.model.tensor import Role, Tensor

_TIED: Final = Switch("tie_word_embeddings", default=True)
_GPT: Final = Keys(
    hidden=("n_embd", "hidden_size"),
    layers=("n_layer", "num_hidden_layers"),
    heads=("n_head", "num_attention_heads"),
    intermediate=("n_inner",),
)
_BLOOM: Final = Keys(
    hidden=("hidden_size", "n_embed"),
    layers=("n_layer", "num_hidden_layers"),
    heads=("n_head", "num_attention_heads"),
)
_MPT: Final = Keys(
    hidden=("d_model", "hidden_size"),
    layers=("n_layers", "num_hidden_layers"),
    heads=("n_heads", "num_attention_heads"),
)
_NORMS: Final = Norms(("ln_1", "ln_2"), bias=True)
_FRAME: Final = Frame(embed="transformer.wte", layer="transformer.h.{}.", norm="transformer.ln_f")
_NEOX_MLP: Final = ("dense_h_to_4h", "dense_4h_to_h")
_GPT2_ATTENTION: Final = ProjectionNames.fused("c_attn", "c_proj")
_HEADS: Final = keyed(_GPT)


def _bigcode_shape(config: Config) -> TextShape:
    """GPT-BigCode's dimensions: one KV head for all unless ``multi_query`` is off."""
    text = keyed(_GPT, positions=1024)(config)
    return replace(text, kv_heads=1 if config.flag("multi_query", default=True) else text.heads)


def _positions(config: Config, text: TextShape) -> tuple[Tensor, ...]:
    """GPT-2's table of learned positions."""
    rows = config.integer("n_positions", config.integer("max_position_embeddings", 1024))
    return (Tensor("transformer.wpe.weight", (rows, text.hidden), Role.OTHER),)


def _embedding_norm(_config: Config, text: TextShape) -> tuple[Tensor, ...]:
    """BLOOM's norm after the embedding."""
    return tuple(norm("transformer.word_embeddings_layernorm", text.hidden, bias=True))


STYLES: Final = {
    "gpt2": Style(
        "GPT2LMHeadModel",
        tied=_TIED,
        qkv_bias=ON,
        out_bias=ON,
        mlp_bias=ON,
        norms=_NORMS,
        attention="attn.",
        projections=_GPT2_ATTENTION,
        mlp_names=("c_fc", "c_proj"),
        frame=_FRAME,
        shape=keyed(_GPT, positions=1024),
        beside=_positions,
    ),
    "gpt_bigcode": Style(
        "GPTBigCodeForCausalLM",
        tied=_TIED,
        qkv_bias=ON,
        out_bias=ON,
        mlp_bias=ON,
        norms=_NORMS,
        attention="attn.",
        projections=_GPT2_ATTENTION,
        mlp_names=("c_fc", "c_proj"),
        frame=_FRAME,
        shape=_bigcode_shape,
        beside=_positions,
    ),
    "gptj": Style(
        "GPTJForCausalLM",
        mlp_bias=ON,
        head_bias=ON,
        norms=Norms(("ln_1",), bias=True),
        attention="attn.",
        projections=ProjectionNames(out="out_proj"),
        mlp_names=("fc_in", "fc_out"),
        frame=_FRAME,
        shape=_HEADS,
    ),
    "codegen": Style(
        "CodeGenForCausalLM",
        mlp_bias=ON,
        head_bias=ON,
        norms=Norms(("ln_1",), bias=True),
        attention="attn.",
        projections=ProjectionNames.fused("qkv_proj", "out_proj"),
        mlp_names=("fc_in", "fc_out"),
        frame=_FRAME,
        shape=_HEADS,
    ),
    "gpt_neox": Style(
        "GPTNeoXForCausalLM",
        Defaults(6144, 44, 64, 24576, 50432),
        qkv_bias=Switch("attention_bias", default=True),
        out_bias=Switch("attention_bias", default=True),
        mlp_bias=ON,
        norms=Norms(bias=True),
        attention="attention.",
        projections=ProjectionNames.fused("query_key_value", "dense"),
        mlp_names=_NEOX_MLP,
        frame=Frame(
            embed="gpt_neox.embed_in",
            layer="gpt_neox.layers.{}.",
            norm="gpt_neox.final_layer_norm",
            head="embed_out",
        ),
    ),
    "bloom": Style(
        "BloomForCausalLM",
        tied=_TIED,
        qkv_bias=ON,
        out_bias=ON,
        mlp_bias=ON,
        norms=Norms(bias=True),
        attention="self_attention.",
        projections=ProjectionNames.fused("query_key_value", "dense"),
        mlp_names=_NEOX_MLP,
        frame=replace(_FRAME, embed="transformer.word_embeddings"),
        shape=keyed(_BLOOM),
        beside=_embedding_norm,
    ),
    "mpt": Style(
        "MptForCausalLM",
        tied=_TIED,
        norms=Norms(("norm_1", "norm_2")),
        attention="attn.",
        projections=ProjectionNames.fused("Wqkv", "out_proj"),
        mlp="ffn.",
        mlp_names=("up_proj", "down_proj"),
        frame=Frame(
            embed="transformer.wte", layer="transformer.blocks.{}.", norm="transformer.norm_f"
        ),
        shape=keyed(_MPT),
    ),
}


def build(config: Config, model_id: str) -> Model:
    """A decoder in the manner of GPT, in the style of its class."""
    return build_from(STYLES, config, model_id)
