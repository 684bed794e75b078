"""DBRX: attention and experts described by sections of their own.

Class defaults are those of the configuration class in transformers 5.24.
"""

from dataclasses import replace
from typing import Final

from vramledger.model.architectures.decoder import Decoder, Frame, Layer, Norms
from vramledger.model.architectures.shape import Keys, keyed, read_kv_heads
from vramledger.model.blocks.attention import GroupedAttention, ProjectionNames
from vramledger.model.blocks.moe import Moe
from vramledger.model.config import Config
from vramledger.model.model import Model

_SHAPE: Final = keyed(Keys(hidden=("d_model",), layers=("n_layers",), heads=("n_heads",)))
_NORMS: Final = Norms(("norm_attn_norm.norm_1", "norm_attn_norm.norm_2"))


def build(config: Config, model_id: str) -> Model:
    """A DBRX decoder.

    Raises:
        BadInput: a value is missing or out of range.
    """
    attention = config.sub("attn_config") or Config({}, config.where)
    experts = config.sub("ffn_config") or Config({}, config.where)
    text = _SHAPE(config)
    kv_heads = read_kv_heads(attention, "kv_n_heads", text.heads, 1)
    text = replace(text, kv_heads=kv_heads, intermediate=0)
    mixer = GroupedAttention(
        text.heads, kv_heads, text.head_dim, name="norm_attn_norm.attn.",
        names=ProjectionNames.fused("Wqkv", "out_proj"),
    )  # fmt: skip
    moe = Moe(
        experts=experts.integer("moe_num_experts", 4),
        per_token=experts.integer("moe_top_k", 1),
        intermediate=experts.integer("ffn_hidden_size", 3584),
        router="router.layer",
        name="ffn.",
        expert_name="experts.mlp.",
        names=("w1", "v1", "w2"),
        stacked=True,
    )
    return Decoder(
        architecture="DbrxForCausalLM",
        text=text,
        layers=(Layer(mixer, moe, _NORMS),) * text.layers,
        tied=config.flag("tie_word_embeddings", default=False),
        frame=Frame(
            embed="transformer.wte", layer="transformer.blocks.{}.", norm="transformer.norm_f"
        ),
    ).model(config, model_id)
