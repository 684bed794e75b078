"""ModernBERT: an encoder with rotary positions and alternating local and global layers, no cache.

Class defaults are those of the configuration class in transformers 5.24.
"""

from typing import Final

from vramledger.model.architectures.bert import Top, named_top
from vramledger.model.architectures.decoder import Decoder, Frame, Layer, Norms
from vramledger.model.architectures.shape import Defaults, read_shape
from vramledger.model.architectures.tops import label_count
from vramledger.model.blocks.attention import GroupedAttention, ProjectionNames
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.config import Config
from vramledger.model.model import Model, ModelKind, TextShape
from vramledger.model.parts import linear, norm
from vramledger.model.tensor import Role, Shard, Tensor

_DEFAULTS: Final = Defaults(768, 22, 12, 1152, 50368, positions=8192)
_FUSED_MLP: Final = ("Wi", "Wi", "Wo")


def _head(config: Config, text: TextShape) -> list[Tensor]:
    bias = config.flag("classifier_bias", default=False)
    return [
        *linear("head.dense", text.hidden, text.hidden, Role.OTHER, Shard.REPLICATED, bias=bias),
        *norm("head.norm", text.hidden, bias=config.flag("norm_bias", default=False)),
    ]


def _classifier(config: Config, text: TextShape) -> list[Tensor]:
    out = linear("classifier", label_count(config), text.hidden, Role.OTHER, Shard.REPLICATED,
                 bias=True)  # fmt: skip
    return [*_head(config, text), *out]


def _masked(config: Config, text: TextShape) -> list[Tensor]:
    if not config.flag("decoder_bias", default=True):
        return _head(config, text)
    bias = Tensor("decoder.bias", (text.vocab,), Role.HEAD, Shard.VOCAB)
    return [*_head(config, text), bias]


_TOPS: Final[dict[str, Top]] = {
    "Model": lambda _config, _text: [],
    "ForSequenceClassification": _classifier,
    "ForMaskedLM": _masked,
}


def build(config: Config, model_id: str) -> Model:
    """A ModernBERT encoder.

    Raises:
        BadInput: a value is missing or out of range.
        UnknownName: the configuration names a class with a top that we do not know.
    """
    text = read_shape(config, _DEFAULTS)
    suffix = named_top(config, "ModernBert", _TOPS)
    prefix = "" if suffix == "Model" else "model."
    norm_bias = config.flag("norm_bias", default=False)
    frame = Frame(
        embed=f"{prefix}embeddings.tok_embeddings",
        layer=f"{prefix}layers.{{}}.",
        norm=f"{prefix}final_norm",
        norm_bias=norm_bias,
        head="",
        extra=(
            *norm(f"{prefix}embeddings.norm", text.hidden, bias=norm_bias),
            *_TOPS[suffix](config, text),
        ),
    )
    return Decoder(
        architecture=f"ModernBert{suffix}",
        text=text,
        layers=_layers(config, text, norm_bias=norm_bias),
        tied=config.flag("tie_word_embeddings", default=True),
        frame=frame,
        kind=ModelKind.ENCODER,
    ).model(config, model_id)


def _layers(config: Config, text: TextShape, *, norm_bias: bool) -> tuple[Layer, ...]:
    """The layers; the first has no norm before its attention."""
    bias = config.flag("attention_bias", default=False)
    attention = GroupedAttention(
        text.heads, text.heads, text.head_dim, qkv_bias=bias, out_bias=bias,
        name="attn.", names=ProjectionNames.fused("Wqkv", "Wo"),
    )  # fmt: skip
    mlp = Mlp(text.intermediate, config.flag("mlp_bias", default=False), names=_FUSED_MLP)
    first = Layer(attention, mlp, Norms(("mlp_norm",), norm_bias))
    rest = Layer(attention, mlp, Norms(("attn_norm", "mlp_norm"), norm_bias))
    return (first, *(rest,) * (text.layers - 1))
