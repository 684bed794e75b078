"""MiMo-V2-Flash: sliding layers with twice the KV heads and sinks, full layers without.

Class defaults are those of the configuration class in transformers 5.24.
"""

from typing import Final

from vramledger.errors import BadInput
from vramledger.model.architectures import mixture
from vramledger.model.architectures.decoder import Decoder, Layer
from vramledger.model.architectures.mixture import Key, Mixture
from vramledger.model.architectures.shape import Defaults, read_shape
from vramledger.model.architectures.windows import (
    FULL,
    SLIDING,
    bounded,
    by_kind,
    layer_kinds,
    read_window,
)
from vramledger.model.blocks.attention import GroupedAttention
from vramledger.model.blocks.moe import Correction, Moe
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape

_DEFAULTS: Final = Defaults(4096, 48, 64, 16384, 152576, kv_heads=4, head_dim=192, positions=131072)
_FULL_EVERY: Final = 6
_MIXTURE: Final = Mixture(
    Moe(0, 0, 0, router_float32=True, correction=Correction("gate.e_score_correction_bias")),
    Key(("n_routed_experts", "num_local_experts", "num_experts"), 256),
    Key(("num_experts_per_tok",), 8),
    Key(("moe_intermediate_size",), 2048),
    sparse=mixture.flagged_or_listed(mixture.first_dense(1)),
)


def build(config: Config, model_id: str) -> Model:
    """A MiMo-V2-Flash decoder.

    Raises:
        BadInput: a value is missing or out of range.
        UnknownName: a layer is of no known kind.
    """
    text = read_shape(config, _DEFAULTS)
    kinds = _kinds(config, text.layers)
    windows = bounded(by_kind(kinds, _window(config)), text)
    feed_forward = _MIXTURE(config, text)
    return Decoder(
        architecture="MiMoV2FlashForCausalLM",
        text=text,
        layers=tuple(
            Layer(_attention(config, text, kind, window), block)
            for kind, window, block in zip(kinds, windows, feed_forward, strict=True)
        ),
        tied=config.flag("tie_word_embeddings", default=False),
    ).model(config, model_id)


def _kinds(config: Config, layers: int) -> tuple[str, ...]:
    """Kinds by name, by the older list of flags, or as the class assumes."""
    pattern = config.integers("hybrid_layer_pattern")
    if pattern is None or config.has("layer_types"):
        assumed = [FULL if i == 0 or (i + 1) % _FULL_EVERY == 0 else SLIDING for i in range(layers)]
        return layer_kinds(config, layers, assumed)
    if len(pattern) < layers:
        raise BadInput(
            f"{config.where}: 'hybrid_layer_pattern' lists {len(pattern)} layers, but there are "
            f"{layers}; list every layer."
        )
    return tuple(SLIDING if flag else FULL for flag in pattern[:layers])


def _window(config: Config) -> int:
    """The window without the current token, as the checkpoint's own key counts it."""
    return config.integer("sliding_window_size", read_window(config, 128))


def _attention(config: Config, text: TextShape, kind: str, window: int) -> GroupedAttention:
    sliding = kind == SLIDING
    heads, kv_heads = text.heads, text.kv_heads
    head_dim, v_dim = text.head_dim, config.integer("v_head_dim", 128)
    if sliding:
        heads = config.integer("swa_num_attention_heads", heads)
        kv_heads = config.integer("swa_num_key_value_heads", 2 * kv_heads)
        head_dim = config.integer("swa_head_dim", head_dim)
        v_dim = config.integer("swa_v_head_dim", v_dim)
    key = "add_swa_attention_sink_bias" if sliding else "add_full_attention_sink_bias"
    return GroupedAttention(
        heads,
        kv_heads,
        head_dim,
        v_dim,
        window,
        qkv_bias=config.flag("attention_bias", default=False),
        sinks=config.flag(key, default=sliding),
        sink_name="attention_sink_bias",
    )
