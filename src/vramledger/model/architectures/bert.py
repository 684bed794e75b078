"""BERT and RoBERTa encoders: embedding, reranking and masked-language models, without a cache.

What sits on top of the layers follows the class that the configuration names, the base model with
its pooler where it names none. Class defaults are those of transformers 5.24.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from vramledger.errors import UnknownName
from vramledger.frozen import frozen
from vramledger.model.architectures.decoder import Decoder, Frame, Layer, Norms
from vramledger.model.architectures.shape import Defaults, read_shape
from vramledger.model.architectures.tops import label_count
from vramledger.model.blocks.attention import GroupedAttention, ProjectionNames
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.config import Config
from vramledger.model.model import Model, ModelKind, TextShape
from vramledger.model.parts import linear, norm
from vramledger.model.tensor import Role, Shard, Tensor

Top = Callable[[Config, TextShape], list[Tensor]]

_DEFAULTS: Final = Defaults(768, 12, 12, 3072, 30522, positions=512)
_NORMS: Final = Norms(("attention.output.LayerNorm", "output.LayerNorm"), bias=True)
_PROJECTIONS: Final = ProjectionNames(
    "attention.self.query",
    "attention.self.key",
    "attention.self.value",
    "attention.output.dense",
)


@frozen
class Family:
    """Classes of one family: the prefix under a head, and what each suffix puts on top.

    With `skips_positions` a text's first token takes the position behind the padding token's id, so
    the table holds fewer tokens than rows.
    """

    name: str
    prefix: str
    tops: dict[str, Top]
    skips_positions: bool = False


def _square(name: str, text: TextShape) -> list[Tensor]:
    return linear(name, text.hidden, text.hidden, Role.OTHER, Shard.REPLICATED, bias=True)


def _pooled(prefix: str) -> Top:
    return lambda _config, text: _square(f"{prefix}pooler.dense", text)


def _bert_classifier(config: Config, text: TextShape) -> list[Tensor]:
    classifier = linear("classifier", label_count(config), text.hidden, Role.OTHER,
                        Shard.REPLICATED, bias=True)  # fmt: skip
    return [*_square("bert.pooler.dense", text), *classifier]


def _bert_masked(_config: Config, text: TextShape) -> list[Tensor]:
    base = "cls.predictions."
    return [
        *_square(f"{base}transform.dense", text),
        *norm(f"{base}transform.LayerNorm", text.hidden, bias=True),
        Tensor(f"{base}bias", (text.vocab,), Role.HEAD, Shard.VOCAB),
    ]


def _roberta_classifier(config: Config, text: TextShape) -> list[Tensor]:
    out = linear("classifier.out_proj", label_count(config), text.hidden, Role.OTHER,
                 Shard.REPLICATED, bias=True)  # fmt: skip
    return [*_square("classifier.dense", text), *out]


def _roberta_masked(_config: Config, text: TextShape) -> list[Tensor]:
    return [
        *_square("lm_head.dense", text),
        *norm("lm_head.layer_norm", text.hidden, bias=True),
        Tensor("lm_head.bias", (text.vocab,), Role.HEAD, Shard.VOCAB),
    ]


def _roberta(name: str) -> Family:
    return Family(
        name,
        "roberta.",
        {
            "Model": _pooled(""),
            "ForSequenceClassification": _roberta_classifier,
            "ForMaskedLM": _roberta_masked,
        },
        skips_positions=True,
    )


FAMILIES: Final = {
    "bert": Family(
        "Bert",
        "bert.",
        {
            "Model": _pooled(""),
            "ForSequenceClassification": _bert_classifier,
            "ForMaskedLM": _bert_masked,
        },
    ),
    "roberta": _roberta("Roberta"),
    "xlm-roberta": _roberta("XLMRoberta"),
}


def build(config: Config, model_id: str) -> Model:
    """A BERT or RoBERTa encoder.

    Raises:
        BadInput: a value is missing or out of range.
        UnknownName: the configuration names a class with a top that we do not know.
    """
    family = FAMILIES[config.text("model_type")]
    text = read_shape(config, _DEFAULTS)
    if family.skips_positions:
        skipped = config.integer("pad_token_id", 1, least=0) + 1
        text = replace(text, max_positions=max(1, text.max_positions - skipped))
    suffix = named_top(config, family.name, family.tops)
    prefix = "" if suffix == "Model" else family.prefix
    attention = GroupedAttention(
        text.heads, text.heads, text.hidden // text.heads, qkv_bias=True, out_bias=True,
        name="", names=_PROJECTIONS,
    )  # fmt: skip
    mlp = Mlp(text.intermediate, bias=True, name="", names=("intermediate.dense", "output.dense"))
    frame = Frame(
        embed=f"{prefix}embeddings.word_embeddings",
        layer=f"{prefix}encoder.layer.{{}}.",
        norm="",
        head="",
        extra=(*_embeddings(config, text, prefix), *family.tops[suffix](config, text)),
    )
    return Decoder(
        architecture=f"{family.name}{suffix}",
        text=text,
        layers=(Layer(attention, mlp, _NORMS),) * text.layers,
        tied=config.flag("tie_word_embeddings", default=True),
        frame=frame,
        kind=ModelKind.ENCODER,
    ).model(config, model_id)


def named_top(config: Config, family: str, tops: dict[str, Top]) -> str:
    """The suffix of the class that ``architectures`` names, ``Model`` where it names none.

    Raises:
        UnknownName: the class is none of the family's.
    """
    names = config.texts("architectures")
    if not names:
        return "Model"
    suffix = names[0].removeprefix(family)
    if suffix not in tops:
        known = [f"{family}{top}" for top in tops]
        raise UnknownName("class", names[0], known, f"{config.where}, 'architectures'")
    return suffix


def _embeddings(config: Config, text: TextShape, prefix: str) -> list[Tensor]:
    """Positions, token types and their norm; every rank holds all of them."""
    base = f"{prefix}embeddings."
    positions = config.integer("max_position_embeddings", 512)
    types = config.integer("type_vocab_size", 2)
    return [
        Tensor(f"{base}position_embeddings.weight", (positions, text.hidden), Role.OTHER),
        Tensor(f"{base}token_type_embeddings.weight", (types, text.hidden), Role.OTHER),
        *norm(f"{base}LayerNorm", text.hidden, bias=True),
    ]
