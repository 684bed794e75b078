"""Step-3.7: an image encoder before a mixture of experts that mixes full and sliding layers.

Class defaults are those of transformers 5.24, names those of the published checkpoints.
"""

from dataclasses import replace
from typing import Final

from vramledger.model.architectures import mixture, mtp
from vramledger.model.architectures.decoder import Decoder, Layer
from vramledger.model.architectures.mixture import Key, Mixture
from vramledger.model.architectures.multimodal import (
    TextPart,
    Tower,
    compose,
    text_config,
    tied_inside,
    vision_config,
)
from vramledger.model.architectures.shape import Defaults, read_shape
from vramledger.model.architectures.windows import FULL, SLIDING, layer_kinds, read_window
from vramledger.model.blocks.attention import GroupedAttention, QueryKeyNorm
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.blocks.moe import Correction, Moe
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape
from vramledger.model.parts import linear
from vramledger.model.rotary import rotary_tables
from vramledger.model.tensor import Role, Shard
from vramledger.model.towers.step import read_step

_DEFAULTS: Final = Defaults(4096, 45, 64, 11264, 128815, kv_heads=8, head_dim=128, positions=128000)
_PART: Final = TextPart("step3p5", tied_inside, body="model.")
_MIXTURE: Final = Mixture(
    Moe(
        0, 0, 0, shared=Mlp(0, name="share_expert.", role=Role.SHARED_EXPERT), router="moe.gate",
        correction=Correction("moe.router_bias"), name="", expert_name="moe.",
    ),
    Key(("n_routed_experts", "num_experts", "moe_num_experts"), 288),
    Key(("num_experts_per_tok", "moe_top_k"), 8),
    Key(("moe_intermediate_size",), 1280),
    shared_width=Key(("share_expert_dim",), 1280),
    sparse=mixture.listed(mixture.first_dense(3)),
)  # fmt: skip


def build(config: Config, model_id: str) -> Model:
    """The model; keys of the language model may stand in ``text_config`` or at the top."""
    inner = text_config(config, _PART)
    text = read_shape(inner, _DEFAULTS)
    layers = _layers(inner, text)
    decoder = Decoder(
        architecture="Step3p7ForConditionalGeneration",
        text=text,
        layers=layers,
        tied=inner.flag("tie_word_embeddings", default=False),
        extra_tensors=mtp.prediction_layers(
            inner, text, replace(layers[-1], feed_forward=Mlp(text.intermediate))
        ),
    ).model(inner, model_id)
    decoder = replace(decoder, rotary=rotary_tables(inner, text.head_dim))
    tower = read_step(vision_config(config))
    projector = linear(
        "vit_large_projector",
        text.hidden,
        tower.output,
        Role.PROJECTOR,
        Shard.COLUMN,
        bias=config.flag("projector_bias", default=False),
    )
    return compose(
        config,
        decoder,
        architecture="Step3p7ForConditionalGeneration",
        part=_PART,
        towers=[Tower((*tower.tensors("vision_model."), *projector), tower.largest_input())],
    )


def _layers(config: Config, text: TextShape) -> tuple[Layer, ...]:
    kinds = layer_kinds(config, text.layers, [FULL] * text.layers)
    window = read_window(config, 0)
    bias = config.flag("attention_bias", default=False)
    full = GroupedAttention(
        text.heads,
        text.kv_heads,
        text.head_dim,
        qkv_bias=bias,
        out_bias=bias,
        norm=QueryKeyNorm(),
        gate="g_proj",
    )
    sliding = replace(
        full,
        heads=_sliding_heads(config, text.heads),
        window=window if window < text.max_positions else 0,
    )
    blocks = _MIXTURE(config, text)
    return tuple(
        Layer(sliding if kind == SLIDING else full, block)
        for kind, block in zip(kinds, blocks, strict=True)
    )


def _sliding_heads(config: Config, heads: int) -> int:
    """Sliding layers may have more query heads than full ones."""
    other = config.sub("attention_other_setting")
    assumed = other.integer("num_attention_heads", heads) if other else heads
    return config.integer("num_sliding_attention_heads", assumed)
