"""GraniteMoeHybridForCausalLM: Mamba-2 and attention layers, with experts and a shared MLP."""

from dataclasses import replace
from typing import Final

from vramledger.model.architectures.decoder import Decoder, FeedForward, Layer
from vramledger.model.architectures.mamba_keys import expanded_mamba2
from vramledger.model.architectures.shape import Defaults, read_shape
from vramledger.model.architectures.windows import layer_kinds
from vramledger.model.blocks.attention import GroupedAttention
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.blocks.moe import Moe
from vramledger.model.config import Config
from vramledger.model.model import Model
from vramledger.model.tensor import Role

_DEFAULTS: Final = Defaults(4096, 32, 32, 11008, 32000)
_ATTENTION: Final = ("attention", "full_attention")
_MAMBA: Final = ("mamba", "linear_attention")
# gate and up are one matrix; the experts of a layer are one array
_NAMES: Final = ("input_linear", "input_linear", "output_linear")


def build(config: Config, model_id: str) -> Model:
    """The hybrid; without ``layer_types`` every layer is a Mamba layer, as in the class."""
    text = read_shape(config, _DEFAULTS)
    shared = config.integer("shared_intermediate_size", 1024)
    key = "layers_block_type" if config.has("layers_block_type") else "layer_types"
    kinds = layer_kinds(
        config, text.layers, ["mamba"] * text.layers, known=(*_ATTENTION, *_MAMBA), key=key
    )
    bias = config.flag("attention_bias", default=False)
    attention = GroupedAttention(
        text.heads, text.kv_heads, text.head_dim, qkv_bias=bias, out_bias=bias
    )
    mixer = expanded_mamba2(config, text.hidden)
    block = _feed_forward(config, text.intermediate, shared)
    return Decoder(
        architecture="GraniteMoeHybridForCausalLM",
        text=replace(text, intermediate=shared),
        layers=tuple(Layer(attention if kind in _ATTENTION else mixer, block) for kind in kinds),
        tied=config.flag("tie_word_embeddings", default=False),
    ).model(config, model_id)


def _feed_forward(config: Config, intermediate: int, shared: int) -> FeedForward:
    # an explicit 0 means no routed experts (the dense hybrids); the class's default is 8
    count = config.integer("num_local_experts", 8, least=0)
    if not count:
        return Mlp(shared, name="shared_mlp.", names=_NAMES)
    beside = Mlp(shared, name="shared_mlp.", names=_NAMES, role=Role.SHARED_EXPERT)
    return Moe(
        experts=count,
        per_token=config.integer("num_experts_per_tok", 2),
        intermediate=intermediate,
        shared=beside,
        router="block_sparse_moe.router.layer",
        name="",
        expert_name="block_sparse_moe.",
        names=_NAMES,
    )
