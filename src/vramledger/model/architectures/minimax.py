"""MiniMaxForCausalLM (Text-01, M1): lightning attention with softmax attention every few layers."""

from typing import Final

from vramledger.errors import BadInput
from vramledger.model.architectures.decoder import Decoder, Layer
from vramledger.model.architectures.shape import Defaults, read_shape
from vramledger.model.architectures.windows import FULL, layer_kinds
from vramledger.model.blocks.attention import GroupedAttention
from vramledger.model.blocks.lightning import Lightning
from vramledger.model.blocks.moe import Moe
from vramledger.model.config import Config
from vramledger.model.model import Model

_DEFAULTS: Final = Defaults(4096, 32, 32, 14336, 32000, kv_heads=8, positions=131072)
_LINEAR: Final = "linear_attention"


def build(config: Config, model_id: str) -> Model:
    """The hybrid; ``attn_type_list`` (1 = softmax) is the older spelling of ``layer_types``."""
    text = read_shape(config, _DEFAULTS)
    default = _default_kinds(config, text.layers)
    kinds = layer_kinds(config, text.layers, default, known=(FULL, _LINEAR))
    attention = GroupedAttention(text.heads, text.kv_heads, text.head_dim)
    mixer = Lightning(text.heads, text.head_dim)
    experts = Moe(
        experts=config.integer("num_local_experts", 8),
        per_token=config.integer("num_experts_per_tok", 2),
        intermediate=text.intermediate,
        name="block_sparse_moe.",
        names=("w1", "w3", "w2"),
    )
    return Decoder(
        architecture="MiniMaxForCausalLM",
        text=text,
        layers=tuple(Layer(attention if kind == FULL else mixer, experts) for kind in kinds),
        tied=config.flag("tie_word_embeddings", default=False),
    ).model(config, model_id)


def _default_kinds(config: Config, layers: int) -> list[str]:
    softmax = config.integers("attn_type_list")
    if softmax is None:
        return [_LINEAR if i % 2 else FULL for i in range(layers)]
    if len(softmax) < layers:
        raise BadInput(
            f"{config.where}: 'attn_type_list' lists {len(softmax)} layers, but there are "
            f"{layers}; list every layer."
        )
    return [FULL if kind == 1 else _LINEAR for kind in softmax[:layers]]
