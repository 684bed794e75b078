"""Dense decoders with norms after attention and MLP, alone or beside those before.

Class defaults are those of the configuration classes in transformers 5.24.
"""

from typing import Final

from vramledger.model.architectures import windows
from vramledger.model.architectures.decoder import Norms
from vramledger.model.architectures.shape import Defaults
from vramledger.model.architectures.style import ATTENTION_BIAS, Style, Switch, build_from
from vramledger.model.blocks.attention import NormSpan, QueryKeyNorm
from vramledger.model.blocks.mlp import FUSED
from vramledger.model.config import Config
from vramledger.model.model import Model

_TIED: Final = Switch("tie_word_embeddings", default=True)
_WHOLE_NORM: Final = QueryKeyNorm(span=NormSpan.WHOLE)
_SANDWICH: Final = Norms(
    (
        "input_layernorm",
        "post_attention_layernorm",
        "pre_feedforward_layernorm",
        "post_feedforward_layernorm",
    )
)
_AFTER: Final = Norms(("post_attention_layernorm", "post_feedforward_layernorm"))

STYLES: Final = {
    "gemma2": Style(
        "Gemma2ForCausalLM",
        Defaults(2304, 26, 8, 9216, 256000, kv_heads=4, head_dim=256, positions=8192),
        tied=_TIED,
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        norms=_SANDWICH,
        windows=windows.interleaved(2),
        looks_both_ways=Switch("use_bidirectional_attention"),
    ),
    "gemma3_text": Style(
        "Gemma3ForCausalLM",
        Defaults(2304, 26, 8, 9216, 262208, kv_heads=4, head_dim=256, positions=131072),
        tied=_TIED,
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        norm=QueryKeyNorm(),
        norms=_SANDWICH,
        windows=windows.interleaved(6),
        looks_both_ways=Switch("use_bidirectional_attention"),
    ),
    "olmo2": Style(
        "Olmo2ForCausalLM",
        Defaults(4096, 32, 32, 11008, 50304),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        norm=_WHOLE_NORM,
        norms=_AFTER,
    ),
    "olmo3": Style(
        "Olmo3ForCausalLM",
        Defaults(4096, 32, 32, 11008, 50304),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        norm=_WHOLE_NORM,
        norms=_AFTER,
        windows=windows.interleaved(4),
    ),
    "glm4": Style(
        "Glm4ForCausalLM",
        Defaults(4096, 40, 32, 13696, 151552, kv_heads=2, head_dim=128, positions=131072),
        qkv_bias=Switch("attention_bias", default=True),
        mlp_names=FUSED,
        norms=Norms(
            (
                "input_layernorm",
                "post_attention_layernorm",
                "post_self_attn_layernorm",
                "post_mlp_layernorm",
            )
        ),
    ),
    "exaone4": Style(
        "Exaone4ForCausalLM",
        Defaults(4096, 32, 32, 16384, 102400, kv_heads=32),
        norm=QueryKeyNorm(),
        norms=_AFTER,
        windows=windows.interleaved(4),
    ),
}


def build(config: Config, model_id: str) -> Model:
    """A dense decoder with norms after its blocks, in the style of its class."""
    return build_from(STYLES, config, model_id)
