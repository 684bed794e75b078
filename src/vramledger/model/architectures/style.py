"""Decoders that differ from Llama in a few switches: one `Style` a class."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from vramledger.frozen import frozen
from vramledger.model.architectures.decoder import (
    PLAIN_FRAME,
    PRE_NORMS,
    Decoder,
    FeedForward,
    Frame,
    Layer,
    Norms,
)
from vramledger.model.architectures.shape import Defaults, ShapeRule, read_shape
from vramledger.model.architectures.windows import WindowRule, bounded, none
from vramledger.model.blocks.attention import (
    SEPARATE,
    GroupedAttention,
    ProjectionNames,
    QueryKeyNorm,
)
from vramledger.model.blocks.mlp import GATED, Mlp
from vramledger.model.config import Config
from vramledger.model.model import Model, ModelKind, TextShape
from vramledger.model.tensor import Tensor


@frozen
class Switch:
    """A property of a class: fixed, or read from a key with the class default."""

    key: str = ""
    default: bool = False

    def read(self, config: Config) -> bool:
        return config.flag(self.key, default=self.default) if self.key else self.default


ON: Final = Switch(default=True)
OFF: Final = Switch(default=False)
TIED_WHEN_SAID: Final = Switch("tie_word_embeddings")
UNSTATED: Final = Defaults()
ATTENTION_BIAS: Final = Switch("attention_bias")
MLP_BIAS: Final = Switch("mlp_bias")

FeedForwardRule = Callable[[Config, TextShape], tuple[FeedForward, ...]]
ExtraRule = Callable[[Config, TextShape], tuple[Tensor, ...]]
NotesRule = Callable[[Config], tuple[str, ...]]
DraftRule = Callable[[Config, TextShape, Layer], tuple[Tensor, ...]]


@frozen
class Parallel:
    """The norms of a class that can run attention and MLP side by side, and its switch."""

    when: Switch
    norms: Norms


@frozen
class Style:
    """How a class departs from Llama's names, norms, biases, caches and feed-forward blocks."""

    architecture: str
    defaults: Defaults = UNSTATED
    tied: Switch = TIED_WHEN_SAID
    qkv_bias: Switch = OFF
    out_bias: Switch = OFF
    mlp_bias: Switch = OFF
    head_bias: Switch = OFF
    norm: QueryKeyNorm | None = None
    norm_when: Switch = ON
    sinks: bool = False
    norms: Norms = PRE_NORMS
    parallel: Parallel | None = None
    attention: str = "self_attn."
    projections: ProjectionNames = SEPARATE
    mlp: str = "mlp."
    mlp_names: tuple[str, ...] = GATED
    windows: WindowRule = none
    feed_forward: FeedForwardRule | None = None  # None: a dense MLP in every layer
    frame: Frame = PLAIN_FRAME
    shape: ShapeRule | None = None  # None: the usual keys with `defaults`
    beside: ExtraRule | None = None  # tensors beside the layers
    others: tuple[FeedForward, ...] = ()  # parts of every layer beyond the usual three
    draft: DraftRule | None = None
    looks_both_ways: Switch = OFF  # then it is an encoder, without a cache
    notes: NotesRule | None = None


def build_style(style: Style, config: Config, model_id: str) -> Model:
    """The model of a configuration in this style.

    Raises:
        BadInput: a value is missing or out of range.
    """
    text = style.shape(config) if style.shape else read_shape(config, style.defaults)
    text = replace(text, gated_mlp=len(style.mlp_names) == len(GATED))
    layers = read_layers(style, config, text)
    return Decoder(
        architecture=style.architecture,
        text=text,
        layers=layers,
        tied=style.tied.read(config),
        frame=replace(
            style.frame,
            norm_bias=style.norms.bias,
            head_bias=style.head_bias.read(config),
            extra=style.beside(config, text) if style.beside else (),
        ),
        extra_tensors=style.draft(config, text, layers[-1]) if style.draft else (),
        kind=ModelKind.ENCODER if style.looks_both_ways.read(config) else ModelKind.DECODER,
        notes=style.notes(config) if style.notes else (),
    ).model(config, model_id)


def read_layers(style: Style, config: Config, text: TextShape) -> tuple[Layer, ...]:
    """The layers: one attention block a window, beside the feed-forward blocks of the class."""
    kept = bounded(style.windows(config, text.layers), text)
    blocks = (
        style.feed_forward(config, text)
        if style.feed_forward
        else (dense(style, config, text),) * text.layers
    )
    side_by_side = style.parallel and style.parallel.when.read(config)
    norms = style.parallel.norms if style.parallel and side_by_side else style.norms
    attention = {window: read_attention(style, config, text, window) for window in set(kept)}
    return tuple(
        Layer(attention[window], block, norms, style.others)
        for window, block in zip(kept, blocks, strict=True)
    )


def read_attention(
    style: Style, config: Config, text: TextShape, window: int = 0
) -> GroupedAttention:
    """The attention of a layer that keeps `window` tokens (0: all)."""
    return GroupedAttention(
        heads=text.heads,
        kv_heads=text.kv_heads,
        head_dim=text.head_dim,
        window=window,
        qkv_bias=style.qkv_bias.read(config),
        out_bias=style.out_bias.read(config),
        norm=style.norm if style.norm_when.read(config) else None,
        sinks=style.sinks,
        name=style.attention,
        names=style.projections,
    )


def dense(style: Style, config: Config, text: TextShape) -> Mlp:
    """The MLP of a dense layer."""
    return Mlp(text.intermediate, style.mlp_bias.read(config), style.mlp, style.mlp_names)


def build_from(styles: Mapping[str, Style], config: Config, model_id: str) -> Model:
    """The model in the style that a table keeps for the configuration's ``model_type``."""
    return build_style(styles[config.text("model_type")], config, model_id)
