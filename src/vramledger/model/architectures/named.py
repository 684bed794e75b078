"""Decoders in the manner of Llama whose checkpoints use names of their own.

Their configurations and names are those of the code published with the models; vLLM reads the same.
"""

from dataclasses import replace
from typing import Final

from vramledger.model.architectures import mtp, windows
from vramledger.model.architectures.decoder import Frame, Norms
from vramledger.model.architectures.shape import (
    Defaults,
    Keys,
    keyed,
    read_kv_heads,
    read_shape,
)
from vramledger.model.architectures.style import (
    ATTENTION_BIAS,
    MLP_BIAS,
    ON,
    Style,
    Switch,
    build_from,
)
from vramledger.model.blocks.attention import ProjectionNames
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape

_BIAS: Final = Switch("bias", default=True)
_PACKED: Final = ProjectionNames.fused("W_pack", "o_proj")

_CHATGLM: Final = keyed(
    Keys(
        hidden=("hidden_size",),
        layers=("num_layers", "num_hidden_layers"),
        heads=("num_attention_heads",),
        vocab=("padded_vocab_size", "vocab_size"),
    )
)


def _chatglm_shape(config: Config) -> TextShape:
    """ChatGLM's dimensions: ``kv_channels`` is a head's width, groups share keys and values.

    The first ChatGLM is another architecture under the same name; it lacks ``ffn_hidden_size``.
    """
    text = replace(_CHATGLM(config), intermediate=config.integer("ffn_hidden_size"))
    grouped = config.flag("multi_query_attention", default=False)
    groups = read_kv_heads(config, "multi_query_group_num", text.heads, 1)
    return replace(
        text,
        kv_heads=groups if grouped else text.heads,
        head_dim=config.integer("kv_channels", text.head_dim),
    )


def _qwen_shape(config: Config) -> TextShape:
    """Qwen 1's dimensions: ``intermediate_size`` counts the gate and the up projection together."""
    text = read_shape(config, Defaults(positions=8192))
    return replace(
        text,
        kv_heads=text.heads,
        head_dim=config.integer("kv_channels", text.head_dim),
        intermediate=text.intermediate // 2,
    )


STYLES: Final = {
    "baichuan": Style("BaichuanForCausalLM", Defaults(positions=4096), projections=_PACKED),
    "internlm": Style(
        "InternLMForCausalLM",
        Defaults(4096, 32, 32, 11008, 103168),
        qkv_bias=_BIAS,
        out_bias=_BIAS,
    ),
    "internlm2": Style(
        "InternLM2ForCausalLM",
        Defaults(4096, 32, 32, 11008, 103168),
        qkv_bias=_BIAS,
        out_bias=_BIAS,
        norms=Norms(("attention_norm", "ffn_norm")),
        attention="attention.",
        projections=ProjectionNames.fused("wqkv", "wo"),
        mlp="feed_forward.",
        mlp_names=("w1", "w3", "w2"),
        frame=Frame(embed="model.tok_embeddings", head="output"),
    ),
    "exaone": Style(
        "ExaoneForCausalLM",
        Defaults(4096, 32, 32, 14336, 102400, kv_heads=8, positions=4096),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        mlp_bias=MLP_BIAS,
        norms=Norms(("ln_1", "ln_2")),
        attention="attn.attention.",
        projections=ProjectionNames(out="out_proj"),
        mlp_names=("c_fc_0", "c_fc_1", "c_proj"),
        frame=Frame(embed="transformer.wte", layer="transformer.h.{}.", norm="transformer.ln_f"),
    ),
    "orion": Style("OrionForCausalLM", Defaults(positions=2048), norms=Norms(bias=True)),
    "minicpm": Style("MiniCPMForCausalLM", Defaults(positions=2048), tied=ON),
    "chatglm": Style(
        "ChatGLMModel",
        qkv_bias=Switch("add_qkv_bias"),
        out_bias=Switch("add_bias_linear", default=True),
        mlp_bias=Switch("add_bias_linear", default=True),
        attention="self_attention.",
        projections=ProjectionNames.fused("query_key_value", "dense"),
        mlp_names=("dense_h_to_4h", "dense_h_to_4h", "dense_4h_to_h"),
        frame=Frame(
            embed="transformer.embedding.word_embeddings",
            layer="transformer.encoder.layers.{}.",
            norm="transformer.encoder.final_layernorm",
            head="transformer.output_layer",
        ),
        shape=_chatglm_shape,
    ),
    "qwen": Style(
        "QWenLMHeadModel",
        qkv_bias=ON,
        norms=Norms(("ln_1", "ln_2")),
        attention="attn.",
        projections=ProjectionNames.fused("c_attn", "c_proj"),
        mlp_names=("w1", "w2", "c_proj"),
        frame=Frame(embed="transformer.wte", layer="transformer.h.{}.", norm="transformer.ln_f"),
        shape=_qwen_shape,
    ),
    "mimo": Style(
        "MiMoForCausalLM",
        Defaults(4096, 36, 32, 11008, 151680, kv_heads=8, positions=32768),
        qkv_bias=Switch("attention_bias", default=True),
        windows=windows.switched(lambda i, bound: i >= bound),
        draft=lambda config, text, layer: mtp.prediction_layers(config, text, layer, mtp.MIMO),
    ),
}


def build(config: Config, model_id: str) -> Model:
    """A dense decoder under the names of its checkpoint."""
    return build_from(STYLES, config, model_id)
