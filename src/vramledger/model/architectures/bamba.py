"""BambaForCausalLM: Mamba-2 with attention in a few named layers."""

from typing import Final

from vramledger.errors import BadInput
from vramledger.model.architectures.decoder import Decoder, Frame, Layer, Norms
from vramledger.model.architectures.mamba_keys import expanded_mamba2
from vramledger.model.architectures.shape import Defaults, read_shape
from vramledger.model.blocks.attention import GroupedAttention
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.config import Config
from vramledger.model.model import Model

_DEFAULTS: Final = Defaults(4096, 32, 32, 14336, 128000, kv_heads=8, positions=262144)
_NORMS: Final = Norms(("input_layernorm", "pre_ff_layernorm"))


def build(config: Config, model_id: str) -> Model:
    """The hybrid; ``attn_layer_indices`` names the attention layers, none when absent."""
    text = read_shape(config, _DEFAULTS)
    attends = _attention_layers(config, text.layers)
    bias = config.flag("attention_bias", default=False)
    attention = GroupedAttention(
        text.heads, text.kv_heads, text.head_dim, qkv_bias=bias, out_bias=bias
    )
    mixer = expanded_mamba2(config, text.hidden)
    block = Mlp(text.intermediate, config.flag("mlp_bias", default=False), name="feed_forward.")
    return Decoder(
        architecture="BambaForCausalLM",
        text=text,
        layers=tuple(
            Layer(attention if i in attends else mixer, block, _NORMS) for i in range(text.layers)
        ),
        tied=config.flag("tie_word_embeddings", default=False),
        frame=Frame(norm="model.final_layernorm"),
    ).model(config, model_id)


def _attention_layers(config: Config, layers: int) -> frozenset[int]:
    indices = config.integers("attn_layer_indices") or ()
    beyond = [i for i in indices if i >= layers]
    if beyond:
        raise BadInput(
            f"{config.where}: 'attn_layer_indices' names layer {beyond[0]}, but there are "
            f"{layers} layers, counted from 0."
        )
    return frozenset(indices)
