"""Step-3.5 and the language model of Step-3.7: gated heads, and more of them in sliding layers.

Class defaults are those of the configuration class in transformers 5.24; names those of the
published checkpoints.
"""

from dataclasses import replace
from typing import Final

from vramledger.errors import BadInput
from vramledger.model.architectures import mixture, mtp
from vramledger.model.architectures.decoder import Decoder, Layer
from vramledger.model.architectures.mixture import Key, Mixture
from vramledger.model.architectures.shape import (
    Defaults,
    read_kv_heads,
    read_shape,
)
from vramledger.model.architectures.windows import (
    FULL,
    SLIDING,
    bounded,
    by_kind,
    layer_kinds,
    read_window,
)
from vramledger.model.blocks.attention import GroupedAttention, QueryKeyNorm
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.blocks.moe import Correction, Moe
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape
from vramledger.model.tensor import Role

_GROUPS: Final = "num_attention_groups"
_PREDICTION: Final = replace(mtp.DEEPSEEK, embed="")
_DEFAULTS: Final = Defaults(4096, 45, 64, 11264, 128815, kv_heads=8, head_dim=128, positions=128000)


def _sparse(config: Config, layers: int) -> tuple[bool, ...]:
    """Layers by name, by the older list of numbers, or all but the first three."""
    numbers = _numbered(config)
    first = config.integer("first_k_dense_replace", 3, least=0)
    assumed = [
        mixture.SPARSE if (i in numbers if numbers is not None else i >= first) else mixture.DENSE
        for i in range(layers)
    ]
    return mixture.listed(lambda _config, _layers: assumed)(config, layers)


def _numbered(config: Config) -> set[int] | None:
    """Layer numbers of ``moe_layers_enum``: a list, or text with commas."""
    value = config.raw("moe_layers_enum")
    if not isinstance(value, str):
        numbers = config.integers("moe_layers_enum")
        return None if numbers is None else set(numbers)
    parts = [part.strip() for part in value.split(",") if part.strip()]
    if not all(part.isdecimal() for part in parts):
        raise BadInput(
            f"{config.where}: 'moe_layers_enum' is {value[:60]!r}; list layer numbers with commas."
        )
    return {int(part) for part in parts}


_MIXTURE: Final = Mixture(
    Moe(
        0, 0, 0, name="", router="moe.gate", expert_name="moe.",
        correction=Correction("moe.router_bias"),
        shared=Mlp(0, name="share_expert.", role=Role.SHARED_EXPERT),
    ),
    Key(("n_routed_experts", "moe_num_experts", "num_local_experts", "num_experts"), 288),
    Key(("num_experts_per_tok", "moe_top_k"), 8),
    Key(("moe_intermediate_size",), 1280),
    shared_width=Key(("share_expert_dim", "share_expert_dims"), 1280),
    sparse=_sparse,
    bias_key="mlp_bias",
)  # fmt: skip


def build(config: Config, model_id: str) -> Model:
    """A Step-3.5 decoder.

    Raises:
        BadInput: a value is missing or out of range.
        UnknownName: a layer is of no known kind.
    """
    text = _shape(config)
    kinds = layer_kinds(config, text.layers, [FULL] * text.layers)
    windows = bounded(by_kind(kinds, read_window(config, 0)), text)
    layers = tuple(
        Layer(_attention(config, text, kind, window), block)
        for kind, window, block in zip(kinds, windows, _MIXTURE(config, text), strict=True)
    )
    bias = config.flag("mlp_bias", default=False)
    draft = Layer(_attention(config, text, SLIDING, 0), Mlp(text.intermediate, bias))
    return Decoder(
        architecture="Step3p5ForCausalLM",
        text=text,
        layers=layers,
        tied=config.flag("tie_word_embeddings", default=False),
        extra_tensors=mtp.prediction_layers(config, text, draft, _PREDICTION),
    ).model(config, model_id)


def _shape(config: Config) -> TextShape:
    """The dimensions; KV heads are also spelled ``num_attention_groups``."""
    text = read_shape(config, _DEFAULTS)
    if not config.has(_GROUPS):
        return text
    return replace(text, kv_heads=read_kv_heads(config, _GROUPS, text.heads, 0))


def _attention(config: Config, text: TextShape, kind: str, window: int) -> GroupedAttention:
    heads, kv_heads = text.heads, text.kv_heads
    if kind == SLIDING:
        other = config.sub("attention_other_setting") or Config({}, config.where)
        heads = config.integer(
            "num_sliding_attention_heads", other.integer("num_attention_heads", heads)
        )
        kv_heads = read_kv_heads(other, _GROUPS, heads, kv_heads)
    per_head = config.raw("gating") in (None, True, "per-head")
    bias = config.flag("attention_bias", default=False)
    return GroupedAttention(
        heads,
        kv_heads,
        text.head_dim,
        window=window,
        qkv_bias=bias,
        out_bias=bias,
        norm=QueryKeyNorm(),
        gate="g_proj" if config.flag("use_head_wise_attn_gate", default=True) else "",
        gate_dim=1 if per_head else text.head_dim,
    )
