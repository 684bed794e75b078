"""Gemma 3n's language model: four parallel residual streams, inputs per layer, shared caches.

Class defaults are those of the configuration class in transformers 5.24.
"""

from dataclasses import replace
from typing import Final

from vramledger.errors import BadInput
from vramledger.frozen import frozen
from vramledger.model.architectures.decoder import Decoder, FeedForward, Frame, Layer, Mixer
from vramledger.model.architectures.gemma_layers import (
    SANDWICH,
    PerLayerInput,
    owners,
    per_layer_tables,
    read_kinds,
)
from vramledger.model.architectures.shape import Defaults, read_shape
from vramledger.model.architectures.windows import SLIDING, read_window
from vramledger.model.blocks.attention import GroupedAttention, QueryKeyNorm
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.blocks.partial_attention import BorrowedKeys
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape
from vramledger.model.parts import linear, norm
from vramledger.model.tensor import Role, Shard, Tensor

_DEFAULTS: Final = Defaults(2048, 35, 8, 16384, 262400, kv_heads=2, head_dim=256, positions=32768)

_MOST_STREAMS: Final = 64  # a bound on what is enumerated; the class has 4


def build(config: Config, model_id: str) -> Model:
    """Gemma 3n's decoder; ``intermediate_size`` may list one width a layer.

    Raises:
        BadInput: a value is missing or out of range.
        UnknownName: a layer is of no known kind.
    """
    widths = config.raw("intermediate_size")
    text = read_shape(config, _DEFAULTS, intermediate=0 if isinstance(widths, list) else None)
    each = _intermediate(config, text)
    streams = config.integer("altup_num_inputs", 4, most=_MOST_STREAMS)
    narrow = config.integer("hidden_size_per_layer_input", 256)
    others: tuple[FeedForward, ...] = (
        PerLayerInput(narrow),
        _AltUp(streams),
        _Laurel(config.integer("laurel_rank", 64)),
    )
    return Decoder(
        architecture="Gemma3nForCausalLM",
        text=replace(text, intermediate=max(each)),
        layers=tuple(
            Layer(mixer, Mlp(width), SANDWICH, others)
            for mixer, width in zip(_mixers(config, text), each, strict=True)
        ),
        tied=config.flag("tie_word_embeddings", default=True),
        frame=Frame(
            extra=(*per_layer_tables(config, text, narrow), *_projections(streams, text.hidden))
        ),
    ).model(config, model_id)


@frozen
class _AltUp:
    """Predicts and corrects the parallel streams; whole on every rank."""

    streams: int

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        base, streams = f"{prefix}altup.", self.streams
        shapes = {
            "correction_coefs": (streams, streams),
            "prediction_coefs": (streams**2, streams),
            "modality_router": (streams, hidden),
        }
        found = norm(f"{base}router_norm", hidden, layer=layer)
        for name, (out, inputs) in shapes.items():
            found += linear(f"{base}{name}", out, inputs, Role.OTHER, Shard.REPLICATED, layer=layer)
        scale = Tensor(f"{base}correct_output_scale", (hidden,), Role.OTHER, layer=layer)
        return [*found, scale]


@frozen
class _Laurel:
    """A low-rank path beside attention."""

    rank: int

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        base, role = f"{prefix}laurel.", Role.MLP
        return [
            *linear(f"{base}linear_left", self.rank, hidden, role, Shard.COLUMN, layer=layer),
            *linear(f"{base}linear_right", hidden, self.rank, role, Shard.ROW, layer=layer),
            *norm(f"{base}post_laurel_norm", hidden, layer=layer),
        ]


def _intermediate(config: Config, text: TextShape) -> tuple[int, ...]:
    if not isinstance(config.raw("intermediate_size"), list):
        return (text.intermediate,) * text.layers
    widths = config.integers("intermediate_size", least=1) or ()
    if len(widths) < text.layers:
        raise BadInput(
            f"{config.where}: 'intermediate_size' lists {len(widths)} layers, but there are "
            f"{text.layers}; list every layer."
        )
    return widths[: text.layers]


def _mixers(config: Config, text: TextShape) -> tuple[Mixer, ...]:
    kinds = read_kinds(config, text.layers, period=5)
    window = read_window(config, 512)
    bias = config.flag("attention_bias", default=False)
    full = GroupedAttention(
        text.heads,
        text.kv_heads,
        text.head_dim,
        qkv_bias=bias,
        out_bias=bias,
        norm=QueryKeyNorm(),
    )
    sliding = replace(full, window=window if window < text.max_positions else 0)
    own = tuple(sliding if kind == SLIDING else full for kind in kinds)
    return tuple(
        attention if owner is None else BorrowedKeys(attention, owner)
        for attention, owner in zip(own, owners(config, kinds, default=15), strict=True)
    )


def _projections(streams: int, hidden: int) -> list[Tensor]:
    """Into the other streams at the start and out of them at the end."""
    return [
        tensor
        for name in ("altup_projections", "altup_unembed_projections")
        for i in range(streams - 1)
        for tensor in linear(f"model.{name}.{i}", hidden, hidden, Role.OTHER, Shard.COLUMN)
    ]
