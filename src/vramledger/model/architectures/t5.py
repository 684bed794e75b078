"""T5ForConditionalGeneration: relative positions, no biases, heads as wide as ``d_kv``."""

from dataclasses import replace
from typing import Final

from vramledger.errors import BadInput
from vramledger.model.architectures.decoder import Decoder, Frame, Layer, Norms
from vramledger.model.architectures.seq2seq import Encoder, position_table, reading_source
from vramledger.model.architectures.shape import LARGEST_LAYER_COUNT
from vramledger.model.blocks.attention import GroupedAttention, ProjectionNames
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.config import Config
from vramledger.model.model import Model, ModelKind, TextShape
from vramledger.model.parts import norm
from vramledger.model.tensor import Tensor

_NAMES: Final = ProjectionNames("q", "k", "v", "o")
_GATED: Final = ("wi_0", "wi_1", "wo")
_PLAIN: Final = ("wi", "wo")
_TRAINED_LENGTH: Final = 512  # relative positions bound nothing; the models were trained with it


def build(config: Config, model_id: str) -> Model:
    """Version 1.1 and FLAN say ``tie_word_embeddings: false`` and carry a head of their own."""
    gated = _is_gated(config)
    text = _shape(config, gated=gated)
    attention = GroupedAttention(
        text.heads, text.kv_heads, text.head_dim, name="layer.0.SelfAttention.", names=_NAMES
    )
    source = replace(attention, name="layer.1.EncDecAttention.")
    block = Mlp(
        text.intermediate, name="layer.2.DenseReluDense.", names=_GATED if gated else _PLAIN
    )
    decoder = Layer(reading_source(attention, source, text.max_positions), block, _norms(3))
    encoder = Encoder(
        Layer(attention, replace(block, name="layer.1.DenseReluDense."), _norms(2)),
        count=config.integer("num_layers", 6, most=LARGEST_LAYER_COUNT),
        hidden=text.hidden,
        name="encoder.block.{}.",
    )
    return Decoder(
        architecture="T5ForConditionalGeneration",
        text=text,
        layers=(decoder,) * text.layers,
        tied=config.flag("tie_word_embeddings", default=True),
        frame=Frame(
            embed="shared",
            layer="decoder.block.{}.",
            norm="decoder.final_layer_norm",
            extra=(*encoder.tensors(), *_positions(config, text)),
        ),
        kind=ModelKind.ENCODER_DECODER,
    ).model(config, model_id)


def _is_gated(config: Config) -> bool:
    kind = config.text("feed_forward_proj", "relu").split("-")
    if len(kind) > 2 or (len(kind) == 2 and kind[0] != "gated"):
        raise BadInput(
            f"{config.where}: 'feed_forward_proj' is {'-'.join(kind)!r}; it must be the name of an "
            "activation such as relu, or of a gated one such as gated-gelu."
        )
    return kind[0] == "gated"


def _shape(config: Config, *, gated: bool) -> TextShape:
    encoder_layers = config.integer("num_layers", 6, most=LARGEST_LAYER_COUNT)
    heads = config.integer("num_heads", 8)
    return TextShape(
        hidden=config.integer("d_model", 512),
        layers=config.integer("num_decoder_layers", encoder_layers, most=LARGEST_LAYER_COUNT),
        heads=heads,
        kv_heads=heads,
        head_dim=config.integer("d_kv", 64),
        intermediate=config.integer("d_ff", 2048),
        vocab=config.integer("vocab_size", 32128),
        max_positions=config.integer("n_positions", _TRAINED_LENGTH),
        gated_mlp=gated,
    )


def _norms(count: int) -> Norms:
    return Norms(tuple(f"layer.{i}.layer_norm" for i in range(count)))


def _positions(config: Config, text: TextShape) -> list[Tensor]:
    """Both stacks learn one bias per head and distance, in their first layer."""
    buckets = config.integer("relative_attention_num_buckets", 32)
    name = "{}.block.0.layer.0.SelfAttention.relative_attention_bias"
    return [
        *(position_table(name.format(stack), buckets, text.heads)
          for stack in ("encoder", "decoder")),
        *norm("encoder.final_layer_norm", text.hidden),
    ]  # fmt: skip
