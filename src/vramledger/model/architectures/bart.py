"""BartModel and BartForConditionalGeneration; biases and learned positions throughout."""

from dataclasses import replace
from typing import Final

from vramledger.model.architectures.decoder import Decoder, Frame, Layer, Norms
from vramledger.model.architectures.seq2seq import (
    Encoder,
    outside_layers,
    position_table,
    reading_source,
)
from vramledger.model.architectures.shape import LARGEST_LAYER_COUNT
from vramledger.model.blocks.attention import GroupedAttention, ProjectionNames
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.config import Config
from vramledger.model.model import Model, ModelKind, TextShape
from vramledger.model.tensor import Role, Tensor
from vramledger.units import div_even

_OUT: Final = ProjectionNames(out="out_proj")
_POSITION_OFFSET: Final = 2  # rows the class keeps for padding


def build(config: Config, model_id: str) -> Model:
    """Without ``architectures`` the class with an output head is meant; it is tied."""
    classes = config.texts("architectures") or ("BartForConditionalGeneration",)
    bare = classes[0] == "BartModel"
    prefix = "" if bare else "model."
    text = _shape(config)
    source = config.integer("max_position_embeddings", 1024)
    attention = _attention(text.hidden, text.heads)
    decoder = Layer(
        reading_source(attention, replace(attention, name="encoder_attn."), source),
        _feed_forward(text.intermediate),
        Norms(("self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"), bias=True),
    )
    return Decoder(
        architecture=classes[0],
        text=text,
        layers=(decoder,) * text.layers,
        tied=True,
        frame=Frame(
            embed=f"{prefix}shared",
            layer=f"{prefix}decoder.layers.{{}}.",
            norm="",
            extra=(*_around(config, prefix, text.hidden), *([] if bare else _logits_bias(text))),
        ),
        kind=ModelKind.ENCODER_DECODER,
    ).model(config, model_id)


def _shape(config: Config) -> TextShape:
    hidden = config.integer("d_model", 1024)
    heads = config.integer("decoder_attention_heads", 16)
    return TextShape(
        hidden=hidden,
        layers=config.integer("decoder_layers", 12, most=LARGEST_LAYER_COUNT),
        heads=heads,
        kv_heads=heads,
        head_dim=div_even(hidden, heads, f"{config.where}: 'd_model'"),
        intermediate=config.integer("decoder_ffn_dim", 4096),
        vocab=config.integer("vocab_size", 50265),
        max_positions=config.integer("max_position_embeddings", 1024),
        gated_mlp=False,
    )


def _attention(hidden: int, heads: int) -> GroupedAttention:
    width = div_even(hidden, heads, "The width 'd_model'")
    return GroupedAttention(heads, heads, width, qkv_bias=True, out_bias=True, names=_OUT)


def _feed_forward(width: int) -> Mlp:
    return Mlp(width, bias=True, name="", names=("fc1", "fc2"))


def _around(config: Config, prefix: str, hidden: int) -> list[Tensor]:
    """The encoder, and the positions and norms of both stacks."""
    rows = config.integer("max_position_embeddings", 1024) + _POSITION_OFFSET
    encoder = Encoder(
        Layer(
            _attention(hidden, config.integer("encoder_attention_heads", 16)),
            _feed_forward(config.integer("encoder_ffn_dim", 4096)),
            Norms(("self_attn_layer_norm", "final_layer_norm"), bias=True),
        ),
        count=config.integer("encoder_layers", 12, most=LARGEST_LAYER_COUNT),
        hidden=hidden,
        name=f"{prefix}encoder.layers.{{}}.",
    )
    stacks = (f"{prefix}encoder.", f"{prefix}decoder.")
    return [
        *encoder.tensors(),
        *(position_table(f"{stack}embed_positions", rows, hidden) for stack in stacks),
        *outside_layers([f"{stack}layernorm_embedding" for stack in stacks], hidden, bias=True),
    ]


def _logits_bias(text: TextShape) -> list[Tensor]:
    return [Tensor("final_logits_bias", (1, text.vocab), Role.BUFFER)]
