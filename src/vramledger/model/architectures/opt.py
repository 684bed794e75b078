"""OPT: learned positions, biases everywhere, and an embedding that may be narrower than the layers.

Class defaults are those of the configuration class in transformers 5.24.
"""

from typing import Final

from vramledger.model.architectures.decoder import Decoder, Frame, Layer, Norms
from vramledger.model.architectures.shape import Keys, keyed
from vramledger.model.blocks.attention import GroupedAttention, ProjectionNames
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape
from vramledger.model.parts import linear
from vramledger.model.tensor import Role, Shard, Tensor

_SHAPE: Final = keyed(
    Keys(
        hidden=("hidden_size",),
        layers=("num_hidden_layers",),
        heads=("num_attention_heads",),
        intermediate=("ffn_dim",),
    )
)
_POSITION_OFFSET: Final = 2  # rows before the first position
_PREFIX: Final = "model.decoder."


def build(config: Config, model_id: str) -> Model:
    """An OPT decoder."""
    text = _SHAPE(config)
    bias = config.flag("enable_bias", default=True)
    affine = config.flag("layer_norm_elementwise_affine", default=True)
    attention = GroupedAttention(
        text.heads,
        text.kv_heads,
        text.head_dim,
        qkv_bias=bias,
        out_bias=bias,
        names=ProjectionNames(out="out_proj"),
    )
    norms = Norms(("self_attn_layer_norm", "final_layer_norm") if affine else (), bias=True)
    layer = Layer(attention, Mlp(text.intermediate, bias, "", ("fc1", "fc2")), norms)
    return Decoder(
        architecture="OPTForCausalLM",
        text=text,
        layers=(layer,) * text.layers,
        tied=config.flag("tie_word_embeddings", default=True),
        frame=_frame(config, text, affine=affine),
    ).model(config, model_id)


def _frame(config: Config, text: TextShape, *, affine: bool) -> Frame:
    width = config.integer("word_embed_proj_dim", text.hidden)
    rows = config.integer("max_position_embeddings", 2048) + _POSITION_OFFSET
    extra = [Tensor(f"{_PREFIX}embed_positions.weight", (rows, text.hidden), Role.OTHER)]
    if width != text.hidden:
        extra += linear(f"{_PREFIX}project_in", text.hidden, width, Role.OTHER, Shard.REPLICATED)
        extra += linear(f"{_PREFIX}project_out", width, text.hidden, Role.OTHER, Shard.REPLICATED)
    last = (
        affine
        and config.flag("do_layer_norm_before", default=True)
        and not config.flag("_remove_final_layer_norm", default=False)
    )
    return Frame(
        embed=f"{_PREFIX}embed_tokens",
        layer=f"{_PREFIX}layers.{{}}.",
        norm=f"{_PREFIX}final_layer_norm" if last else "",
        norm_bias=True,
        embed_width=width,
        extra=tuple(extra),
    )
