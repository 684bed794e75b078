"""WhisperForConditionalGeneration: an audio encoder and a text decoder that reads its output."""

from dataclasses import replace
from typing import Final

from vramledger.model.architectures.decoder import Decoder, Frame, Layer, Norms
from vramledger.model.architectures.seq2seq import position_table, reading_source
from vramledger.model.architectures.shape import LARGEST_LAYER_COUNT
from vramledger.model.blocks.attention import GroupedAttention, ProjectionNames
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.config import Config
from vramledger.model.model import Model, ModelKind, TextShape
from vramledger.model.tensor import Role, Shard, Tensor
from vramledger.model.towers.whisper import read_whisper_encoder
from vramledger.units import div_even

_OUT: Final = ProjectionNames(out="out_proj")
_NORMS: Final = Norms(
    ("self_attn_layer_norm", "encoder_attn_layer_norm", "final_layer_norm"), bias=True
)


def build(config: Config, model_id: str) -> Model:
    """Keys have no bias, queries and values have one; the head is the embedding."""
    text = _shape(config)
    encoder = read_whisper_encoder(config)
    attention = GroupedAttention(
        text.heads,
        text.kv_heads,
        text.head_dim,
        qkv_bias=True,
        k_bias=False,
        out_bias=True,
        names=_OUT,
    )
    source = replace(attention, name="encoder_attn.")
    layer = Layer(
        reading_source(attention, source, encoder.positions),
        Mlp(text.intermediate, bias=True, name="", names=("fc1", "fc2")),
        _NORMS,
    )
    positions = position_table("model.decoder.embed_positions", text.max_positions, text.hidden)
    model = Decoder(
        architecture="WhisperForConditionalGeneration",
        text=text,
        layers=(layer,) * text.layers,
        tied=config.flag("tie_word_embeddings", default=True),
        frame=Frame(
            embed="model.decoder.embed_tokens",
            layer="model.decoder.layers.{}.",
            norm="model.decoder.layer_norm",
            norm_bias=True,
            head="proj_out",
            extra=(*encoder.tensors("model.encoder."), positions),
        ),
        kind=ModelKind.ENCODER_DECODER,
    ).model(config, model_id)
    return replace(
        model,
        tensors=tuple(_whole_embedding(tensor) for tensor in model.tensors),
        towers=(encoder.largest_input(encoder.positions),),
    )


def _whole_embedding(tensor: Tensor) -> Tensor:
    """The embedding whole on every rank, as in vLLM 0.33, where the head is the same weight."""
    return replace(tensor, shard=Shard.REPLICATED) if tensor.role is Role.EMBEDDING else tensor


def _shape(config: Config) -> TextShape:
    hidden = config.integer("d_model", 384)
    heads = config.integer("decoder_attention_heads", 6)
    return TextShape(
        hidden=hidden,
        layers=config.integer("decoder_layers", 4, most=LARGEST_LAYER_COUNT),
        heads=heads,
        kv_heads=heads,
        head_dim=div_even(hidden, heads, f"{config.where}: 'd_model'"),
        intermediate=config.integer("decoder_ffn_dim", 1536),
        vocab=config.integer("vocab_size", 51865),
        max_positions=config.integer("max_target_positions", 448),
        gated_mlp=False,
    )
