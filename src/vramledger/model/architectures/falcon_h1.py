"""FalconH1ForCausalLM: a Mamba-2 mixer and attention side by side in every layer."""

from typing import Final

from vramledger.model.architectures.decoder import Decoder, Frame, Layer, Norms
from vramledger.model.architectures.mamba_keys import read_mamba2
from vramledger.model.architectures.shape import Defaults, read_shape
from vramledger.model.blocks.attention import GroupedAttention
from vramledger.model.blocks.mamba2 import Mamba2
from vramledger.model.blocks.mlp import Mlp
from vramledger.model.blocks.side_by_side import SideBySide
from vramledger.model.config import Config
from vramledger.model.model import Model

_DEFAULTS: Final = Defaults(4096, 32, 32, 14336, 128000, kv_heads=8, positions=8192)
_NORMS: Final = Norms(("input_layernorm", "pre_ff_layernorm"))


def build(config: Config, model_id: str) -> Model:
    """The hybrid; every layer owns a KV cache and a state."""
    text = read_shape(config, _DEFAULTS)
    bias = config.flag("attention_bias", default=False)
    attention = GroupedAttention(
        text.heads, text.kv_heads, text.head_dim, qkv_bias=bias, out_bias=bias
    )
    block = Mlp(text.intermediate, config.flag("mlp_bias", default=False), name="feed_forward.")
    layer = Layer(SideBySide(attention, _mixer(config, text.hidden)), block, _NORMS)
    return Decoder(
        architecture="FalconH1ForCausalLM",
        text=text,
        layers=(layer,) * text.layers,
        tied=config.flag("tie_word_embeddings", default=False),
        frame=Frame(norm="model.final_layernorm"),
    ).model(config, model_id)


def _mixer(config: Config, hidden: int) -> Mamba2:
    # an explicit null asks for expand x hidden, a missing key for the class default of 1024
    if "mamba_d_ssm" in config.values and not config.has("mamba_d_ssm"):
        width, key = config.integer("mamba_expand", 2) * hidden, "'mamba_expand' x 'hidden_size'"
    else:
        width, key = config.integer("mamba_d_ssm", 1024), "'mamba_d_ssm'"
    gated = config.flag("mamba_rms_norm", default=False)
    out_bias = config.flag("projectors_bias", default=False)
    return read_mamba2(config, width=width, width_key=key, gated_norm=gated, out_bias=out_bias)
