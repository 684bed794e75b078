"""HunYuan-MoE v1: every layer has experts beside one shared MLP; counts may be lists, one a layer.

Class defaults are those of the configuration class in transformers 5.24.
"""

from typing import Final

from vramledger.errors import BadInput
from vramledger.model.architectures.decoder import FeedForward
from vramledger.model.architectures.mixture import SHARED_EXPERTS
from vramledger.model.architectures.shape import Defaults
from vramledger.model.architectures.style import ATTENTION_BIAS, Style, build_style
from vramledger.model.blocks.attention import QueryKeyNorm
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.blocks.moe import Moe
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape

_SHARED_NAME: Final = "shared_mlp."


def _blocks(config: Config, text: TextShape) -> tuple[FeedForward, ...]:
    experts = _per_layer(config, "num_experts", 1, text.layers)
    per_token = _per_layer(config, "moe_topk", 1, text.layers)
    widths = _per_layer(config, "moe_intermediate_size", text.intermediate, text.layers)
    shared = _per_layer(config, "num_shared_expert", 1, text.layers)
    return tuple(
        Moe(
            count, chosen, width, router="gate.wg", router_float32=True,
            shared=Mlp(
                text.intermediate * units, name=_SHARED_NAME, role=SHARED_EXPERTS.role
            ),
        )
        for count, chosen, width, units in zip(experts, per_token, widths, shared, strict=True)
    )  # fmt: skip


def _per_layer(config: Config, key: str, default: int, layers: int) -> tuple[int, ...]:
    """One count for all layers, or a list with one a layer."""
    if not isinstance(config.raw(key), list):
        return (config.integer(key, default),) * layers
    counts = config.integers(key, least=1) or ()
    if len(counts) < layers:
        raise BadInput(
            f"{config.where}: {key!r} lists {len(counts)} layers, but there are {layers}; "
            "list every layer."
        )
    return counts[:layers]


_STYLE: Final = Style(
    "HunYuanMoEV1ForCausalLM",
    Defaults(4096, 32, 32, 11008, 290943),
    qkv_bias=ATTENTION_BIAS,
    out_bias=ATTENTION_BIAS,
    norm=QueryKeyNorm("query_layernorm", "key_layernorm"),
    feed_forward=_blocks,
)


def build(config: Config, model_id: str) -> Model:
    """A HunYuan-MoE v1 decoder."""
    return build_style(_STYLE, config, model_id)
