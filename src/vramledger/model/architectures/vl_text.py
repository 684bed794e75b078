"""Language models that exist only inside multimodal classes, in the manner of Llama.

Class defaults are those of the configuration classes in transformers 5.24.
"""

from typing import Final

from vramledger.model.architectures import mixture, windows
from vramledger.model.architectures.mixture import Key, Mixture
from vramledger.model.architectures.shape import Defaults
from vramledger.model.architectures.style import (
    ATTENTION_BIAS,
    ON,
    Style,
    Switch,
    build_from,
)
from vramledger.model.blocks.attention import QueryKeyNorm
from vramledger.model.blocks.moe import Correction, Moe
from vramledger.model.config import Config
from vramledger.model.model import Model

_QWEN2: Final = Style(
    "Qwen2ForCausalLM",
    Defaults(8192, 80, 64, 29568, 152064, kv_heads=8, positions=32768),
    qkv_bias=ON,
    windows=windows.switched(lambda i, bound: i >= bound),
)

STYLES: Final = {
    "qwen2_vl_text": _QWEN2,
    "qwen2_5_vl_text": _QWEN2,
    "qwen3_vl_text": Style(
        "Qwen3ForCausalLM",
        Defaults(4096, 32, 32, 22016, 151936, kv_heads=32, head_dim=128, positions=128000),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        norm=QueryKeyNorm(),
    ),
    "qwen3_vl_moe_text": Style(
        "Qwen3MoeForCausalLM",
        Defaults(2048, 24, 16, 5632, 151936, kv_heads=16, positions=128000),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        norm=QueryKeyNorm(),
        feed_forward=Mixture(
            Moe(
                0, 0, 0, stacked=True, expert_name="experts.",
                names=("gate_up_proj", "gate_up_proj", "down_proj"),
            ),
            Key(("num_experts",), 60),
            Key(("num_experts_per_tok",), 4),
            Key(("moe_intermediate_size",), 1408),
            sparse=mixture.every_step,
        ),
    ),
    "glm4v_moe_text": Style(
        "Glm4MoeForCausalLM",
        Defaults(4096, 46, 96, 10944, 151424, kv_heads=8, positions=65536),
        qkv_bias=Switch("attention_bias", default=True),
        feed_forward=Mixture(
            Moe(
                0, 0, 0, router_float32=True,
                correction=Correction("gate.e_score_correction_bias"),
            ),
            Key(("n_routed_experts",), 128),
            Key(("num_experts_per_tok",), 8),
            Key(("moe_intermediate_size",), 1408),
            shared_count=Key(("n_shared_experts",), 1, least=0),
            sparse=mixture.after_first(1),
        ),
    ),
}  # fmt: skip


def build(config: Config, model_id: str) -> Model:
    """A text part by itself."""
    return build_from(STYLES, config, model_id)
