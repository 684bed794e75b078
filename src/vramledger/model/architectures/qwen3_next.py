"""Qwen3-Next and Qwen3.5: gated DeltaNet with gated attention every few layers.

Class defaults are those of the configuration classes in transformers 5.24.
"""

from typing import Final

from vramledger.frozen import frozen
from vramledger.model.architectures import mixture
from vramledger.model.architectures.decoder import Decoder, Layer, as_draft
from vramledger.model.architectures.mixture import Key, Mixture
from vramledger.model.architectures.shape import (
    LARGEST_LAYER_COUNT,
    Defaults,
    read_shape,
)
from vramledger.model.architectures.windows import FULL, layer_kinds
from vramledger.model.blocks.attention import GroupedAttention, QueryKeyNorm
from vramledger.model.blocks.gated_delta import GatedDelta
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.blocks.moe import Moe
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape
from vramledger.model.parts import linear, norm
from vramledger.model.tensor import Role, Shard, Tensor

_LINEAR: Final = "linear_attention"
_PER_EXPERT: Final = Moe(0, 0, 0, shared=mixture.SHARED_EXPERT, shared_gate="shared_expert_gate")
_STACKED: Final = Moe(
    0,
    0,
    0,
    shared=mixture.SHARED_EXPERT,
    shared_gate="shared_expert_gate",
    stacked=True,
    expert_name="experts.",
    names=("gate_up_proj", "gate_up_proj", "down_proj"),
)


@frozen
class _Style:
    architecture: str
    defaults: Defaults
    fused: bool  # q, k, v and z in one matrix
    prediction_key: str  # how many MTP layers follow
    experts: Mixture | None = None
    dense: bool = True  # some layers may be dense


_STYLES: Final = {
    "qwen3_next": _Style(
        "Qwen3NextForCausalLM",
        Defaults(2048, 48, 16, 5632, 151936, kv_heads=2, head_dim=256, positions=32768),
        fused=True,
        experts=Mixture(
            _PER_EXPERT,
            Key(("num_experts",), 512),
            Key(("num_experts_per_tok",), 10),
            Key(("moe_intermediate_size",), 512),
            shared_width=Key(("shared_expert_intermediate_size",), 512),
            sparse=mixture.every_step,
        ),
        prediction_key="num_nextn_predict_layers",
    ),
    "qwen3_5_text": _Style(
        "Qwen3_5ForCausalLM",
        Defaults(4096, 32, 16, 12288, 248320, kv_heads=4, head_dim=256, positions=32768),
        fused=False,
        prediction_key="mtp_num_hidden_layers",
    ),
    "qwen3_5_moe_text": _Style(
        "Qwen3_5MoeForCausalLM",
        Defaults(2048, 40, 16, 0, 248320, kv_heads=2, head_dim=256, positions=32768),
        fused=False,
        experts=Mixture(
            _STACKED,
            Key(("num_experts",), 256),
            Key(("num_experts_per_tok",), 8),
            Key(("moe_intermediate_size",), 512),
            shared_width=Key(("shared_expert_intermediate_size",), 512),
        ),
        prediction_key="mtp_num_hidden_layers",
        dense=False,
    ),
}


def build(config: Config, model_id: str) -> Model:
    """The hybrid; without ``layer_types`` every ``full_attention_interval``-th layer attends."""
    style = _STYLES[config.text("model_type")]
    # the classes without dense layers have no dense width
    text = read_shape(config, style.defaults, intermediate=None if style.dense else 0)
    every = config.integer("full_attention_interval", 4)
    default = [_LINEAR if (i + 1) % every else FULL for i in range(text.layers)]
    kinds = layer_kinds(config, text.layers, default, known=(FULL, _LINEAR))
    attention, mixer = _attention(config, text), _mixer(config, fused=style.fused)
    blocks = (
        style.experts(config, text) if style.experts else (Mlp(text.intermediate),) * text.layers
    )
    layers = tuple(
        Layer(attention if kind == FULL else mixer, block)
        for kind, block in zip(kinds, blocks, strict=True)
    )
    return Decoder(
        architecture=style.architecture,
        text=text,
        layers=layers,
        tied=config.flag("tie_word_embeddings", default=False),
        extra_tensors=_prediction(config, style, text, Layer(attention, blocks[-1])),
    ).model(config, model_id)


def _attention(config: Config, text: TextShape) -> GroupedAttention:
    bias = config.flag("attention_bias", default=False)
    return GroupedAttention(
        text.heads,
        text.kv_heads,
        text.head_dim,
        qkv_bias=bias,
        out_bias=bias,
        norm=QueryKeyNorm(),
        query_gate=True,
    )


def _mixer(config: Config, *, fused: bool) -> GatedDelta:
    return GatedDelta(
        key_heads=config.integer("linear_num_key_heads", 16),
        value_heads=config.integer("linear_num_value_heads", 32),
        key_dim=config.integer("linear_key_head_dim", 128),
        value_dim=config.integer("linear_value_head_dim", 128),
        kernel=config.integer("linear_conv_kernel_dim", 4),
        fused=fused,
    )


def _prediction(config: Config, style: _Style, text: TextShape, layer: Layer) -> tuple[Tensor, ...]:
    """The MTP layers, which attend, behind a projection of token and hidden state."""
    count = config.integer(style.prediction_key, 0, least=0, most=LARGEST_LAYER_COUNT)
    if not count:
        return ()
    found = linear("mtp.fc", text.hidden, 2 * text.hidden, Role.DRAFT, Shard.COLUMN)
    for name in ("pre_fc_norm_hidden", "pre_fc_norm_embedding", "norm"):
        found += norm(f"mtp.{name}", text.hidden)
    for i in range(count):
        found += layer.tensors(f"mtp.layers.{i}.", text.layers + i, text.hidden)
    return as_draft(found)
