"""Gemma 4's language model: full layers with wider heads, shared caches, experts beside the MLP.

Class defaults are those of the configuration classes in transformers 5.24.
"""

from dataclasses import replace
from typing import Final

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
from vramledger.model.architectures.windows import FULL, SLIDING, read_window
from vramledger.model.blocks.attention import GroupedAttention, QueryKeyNorm
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.blocks.moe import Moe
from vramledger.model.blocks.partial_attention import BorrowedKeys, KeysAsValues
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape
from vramledger.model.parts import norm
from vramledger.model.tensor import Role, Tensor


@frozen
class _Style:
    architecture: str
    defaults: Defaults
    window: int
    narrow: int  # width of the inputs per layer, 0 where the class has none


_STYLES: Final = {
    "gemma4_text": _Style(
        "Gemma4ForCausalLM",
        Defaults(2304, 30, 8, 9216, 262144, kv_heads=4, head_dim=256, positions=131072),
        window=512,
        narrow=256,
    ),
    "gemma4_unified_text": _Style(
        "Gemma4UnifiedForCausalLM",
        Defaults(2304, 30, 8, 9216, 262144, kv_heads=4, head_dim=256, positions=262144),
        window=1024,
        narrow=0,
    ),
}


def build(config: Config, model_id: str) -> Model:
    """Gemma 4's decoder.

    Raises:
        BadInput: a value is missing or out of range.
        UnknownName: a layer is of no known kind.
    """
    style = _STYLES[config.text("model_type")]
    text = read_shape(config, style.defaults)
    kinds = read_kinds(config, text.layers, period=6)
    kinds = (*kinds[:-1], FULL)  # the class forces the last layer
    readers = owners(config, kinds, default=0)
    narrow = (
        config.integer("hidden_size_per_layer_input", style.narrow, least=0) if style.narrow else 0
    )
    return Decoder(
        architecture=style.architecture,
        text=text,
        layers=tuple(
            _layer(config, text, mixer, narrow=narrow, borrows=owner is not None)
            for mixer, owner in zip(
                _mixers(config, text, kinds, readers, style.window), readers, strict=True
            )
        ),
        tied=config.flag("tie_word_embeddings", default=True),
        frame=Frame(extra=tuple(per_layer_tables(config, text, narrow)) if narrow else ()),
    ).model(config, model_id)


@frozen
class _Scalar:
    """A stored factor of the layer's output."""

    def tensors(self, prefix: str, layer: int, _hidden: int) -> list[Tensor]:
        return [Tensor(f"{prefix}layer_scalar", (1,), Role.BUFFER, layer=layer)]


@frozen
class _ExpertFrame:
    """Norms and scales around the experts that run beside the MLP."""

    experts: int

    def tensors(self, prefix: str, layer: int, hidden: int) -> list[Tensor]:
        found = [
            Tensor(f"{prefix}router.scale", (hidden,), Role.ROUTER, layer=layer),
            Tensor(f"{prefix}router.per_expert_scale", (self.experts,), Role.ROUTER, layer=layer),
        ]
        for name in (
            "post_feedforward_layernorm_1",
            "post_feedforward_layernorm_2",
            "pre_feedforward_layernorm_2",
        ):
            found += norm(f"{prefix}{name}", hidden, layer=layer)
        return found


def _layer(config: Config, text: TextShape, mixer: Mixer, *, narrow: int, borrows: bool) -> Layer:
    doubled = borrows and config.flag("use_double_wide_mlp", default=False)
    dense = Mlp(text.intermediate * (2 if doubled else 1))
    others: tuple[FeedForward, ...] = (_Scalar(),)
    if narrow:
        others = (PerLayerInput(narrow), *others)
    if not config.flag("enable_moe_block", default=False):
        return Layer(mixer, dense, SANDWICH, others)
    experts = Moe(
        experts=config.integer("num_experts"),
        per_token=config.integer("top_k_experts"),
        intermediate=config.integer("moe_intermediate_size"),
        router="router.proj",
        stacked=True,
        name="",
        expert_name="experts.",
        names=("gate_up_proj", "gate_up_proj", "down_proj"),
    )
    return Layer(mixer, experts, SANDWICH, (dense, _ExpertFrame(experts.experts), *others))


def _mixers(
    config: Config,
    text: TextShape,
    kinds: tuple[str, ...],
    readers: tuple[int | None, ...],
    default_window: int,
) -> tuple[Mixer, ...]:
    bias = config.flag("attention_bias", default=False)
    window = read_window(config, default_window)
    sliding = GroupedAttention(
        text.heads,
        text.kv_heads,
        text.head_dim,
        window=window if window < text.max_positions else 0,
        qkv_bias=bias,
        out_bias=bias,
        norm=QueryKeyNorm(),
    )
    keys_serve = config.flag("attention_k_eq_v", default=False)
    wide_heads = config.integer("num_global_key_value_heads", text.kv_heads)
    full = replace(
        sliding,
        window=0,
        head_dim=config.integer("global_head_dim", 512),
        kv_heads=wide_heads if keys_serve else text.kv_heads,
    )
    mixers: list[Mixer] = []
    for kind, owner in zip(kinds, readers, strict=True):
        attention = sliding if kind == SLIDING else full
        if owner is not None:
            mixers.append(BorrowedKeys(attention, owner))
        elif keys_serve and kind == FULL:
            mixers.append(KeysAsValues(attention))
        else:
            mixers.append(attention)
    return tuple(mixers)
