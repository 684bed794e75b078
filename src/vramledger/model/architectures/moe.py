"""Decoders in the manner of Llama whose layers carry a mixture of experts.

Class defaults are those of the configuration classes in transformers 5.24.
"""

from typing import Final

from vramledger.model.architectures import mixture, mtp, windows
from vramledger.model.architectures.decoder import Norms
from vramledger.model.architectures.mixture import SHARED_EXPERT, Key, Mixture
from vramledger.model.architectures.shape import Defaults, read_shape
from vramledger.model.architectures.style import ATTENTION_BIAS, Style, Switch, build_from
from vramledger.model.blocks.attention import NormSpan, QueryKeyNorm
from vramledger.model.blocks.mlp import FUSED, Mlp
from vramledger.model.blocks.moe import Correction, Moe
from vramledger.model.config import Config
from vramledger.model.model import Model, TextShape
from vramledger.model.tensor import Role

_TIED: Final = Switch("tie_word_embeddings", default=True)
_PLAIN: Final = Moe(0, 0, 0)
_MIXTRAL: Final = Moe(0, 0, 0, name="block_sparse_moe.", names=("w1", "w3", "w2"))
_STEERED: Final = Moe(
    0, 0, 0, router_float32=True, correction=Correction("gate.e_score_correction_bias")
)
_LOCAL: Final = ("num_local_experts", "num_experts")
_ROUTED: Final = ("n_routed_experts", "num_local_experts", "num_experts")


def _without_dense_width(config: Config) -> TextShape:
    """Solar-Open's dimensions: no layer is dense."""
    defaults = Defaults(4096, 48, 64, 0, 196608, kv_heads=8, head_dim=128, positions=131072)
    return read_shape(config, defaults, intermediate=0)


def _uncounted_modules(config: Config) -> tuple[str, ...]:
    """MiniMax-M2 names MTP modules whose weights its published checkpoints leave out."""
    count = config.integer("num_mtp_modules", 0, least=0)
    if not count:
        return ()
    return (f"The configuration names {count} MTP modules; their weights are not counted.",)


STYLES: Final = {
    "mixtral": Style(
        "MixtralForCausalLM",
        Defaults(4096, 32, 32, 14336, 32000, kv_heads=8, positions=131072),
        windows=windows.everywhere(),
        feed_forward=Mixture(
            _MIXTRAL,
            Key(_LOCAL, 8),
            Key(("num_experts_per_tok",), 2),
            Key(("intermediate_size",), 14336),
        ),
    ),
    "qwen2_moe": Style(
        "Qwen2MoeForCausalLM",
        Defaults(2048, 24, 16, 5632, 151936, kv_heads=16, positions=32768),
        qkv_bias=Switch("qkv_bias", default=True),
        windows=windows.switched(lambda i, bound: i % 2 == 0 and i < bound),
        feed_forward=Mixture(
            Moe(0, 0, 0, shared=SHARED_EXPERT, shared_gate="shared_expert_gate"),
            Key(("num_experts",), 60),
            Key(("num_experts_per_tok",), 4),
            Key(("moe_intermediate_size",), 1408),
            shared_width=Key(("shared_expert_intermediate_size",), 5632, least=0),
            sparse=mixture.every_step,
        ),
    ),
    "qwen3_moe": Style(
        "Qwen3MoeForCausalLM",
        Defaults(2048, 24, 32, 6144, 151936, kv_heads=4, positions=32768),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        norm=QueryKeyNorm(),
        windows=windows.everywhere_if_used,
        feed_forward=Mixture(
            _PLAIN,
            Key(("num_experts", "num_local_experts"), 128),
            Key(("num_experts_per_tok",), 8),
            Key(("moe_intermediate_size",), 768),
            sparse=mixture.every_step,
        ),
    ),
    "olmoe": Style(
        "OlmoeForCausalLM",
        Defaults(2048, 16, 16, 2048, 50304, positions=4096),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        norm=QueryKeyNorm(span=NormSpan.WHOLE),
        feed_forward=Mixture(
            _PLAIN,
            Key(("num_experts", "num_local_experts"), 64),
            Key(("num_experts_per_tok",), 8),
            Key(("intermediate_size",), 2048),
        ),
    ),
    "phimoe": Style(
        "PhiMoEForCausalLM",
        Defaults(4096, 32, 32, 6400, 32064, kv_heads=8, positions=131072),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        head_bias=Switch("lm_head_bias"),
        norms=Norms(bias=True),
        windows=windows.everywhere(),
        feed_forward=Mixture(
            _MIXTRAL,
            Key(_LOCAL, 16),
            Key(("num_experts_per_tok",), 2),
            Key(("intermediate_size",), 6400),
        ),
    ),
    "gpt_oss": Style(
        "GptOssForCausalLM",
        Defaults(2880, 36, 64, 2880, 201088, kv_heads=8, head_dim=64, positions=131072),
        qkv_bias=Switch("attention_bias", default=True),
        out_bias=Switch("attention_bias", default=True),
        sinks=True,
        windows=windows.interleaved(2, 128),
        feed_forward=Mixture(
            Moe(
                0, 0, 0, router="router", router_bias=True, expert_bias=True,
                expert_name="experts.", names=FUSED, stacked=True,
            ),
            Key(_LOCAL, 128),
            Key(("num_experts_per_tok", "experts_per_token"), 4),
            Key(("intermediate_size",), 2880),
        ),
    ),
    "minimax_m2": Style(
        "MiniMaxM2ForCausalLM",
        Defaults(3072, 62, 48, 1536, 200064, kv_heads=8, head_dim=128, positions=196608),
        norm=QueryKeyNorm(span=NormSpan.WHOLE),
        feed_forward=Mixture(
            Moe(
                0, 0, 0, name="block_sparse_moe.", names=("w1", "w3", "w2"),
                correction=Correction("e_score_correction_bias"),
            ),
            Key(_LOCAL, 256),
            Key(("num_experts_per_tok",), 8),
            Key(("intermediate_size",), 1536),
        ),
        notes=_uncounted_modules,
    ),
    "glm4_moe": Style(
        "Glm4MoeForCausalLM",
        Defaults(4096, 46, 96, 10944, 151552, kv_heads=8, positions=131072),
        qkv_bias=ATTENTION_BIAS,
        norm=QueryKeyNorm(),
        norm_when=Switch("use_qk_norm"),
        feed_forward=Mixture(
            _STEERED,
            Key(_ROUTED, 128),
            Key(("num_experts_per_tok",), 8),
            Key(("moe_intermediate_size",), 1408),
            shared_count=Key(("n_shared_experts",), 1, least=0),
            sparse=mixture.after_first(1),
        ),
        draft=mtp.prediction_layers,
    ),
    "dots1": Style(
        "Dots1ForCausalLM",
        Defaults(4608, 62, 32, 10944, 152064, kv_heads=32),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        norm=QueryKeyNorm(),
        windows=windows.above_max_window_layers,
        feed_forward=Mixture(
            _STEERED,
            Key(_ROUTED),
            Key(("num_experts_per_tok",)),
            Key(("moe_intermediate_size",), 1408),
            shared_count=Key(("n_shared_experts",), 0, least=0),
            sparse=mixture.after_first(0),
        ),
    ),
    "ernie4_5_moe": Style(
        "Ernie4_5_MoeForCausalLM",
        Defaults(2560, 28, 20, 12288, 103424, kv_heads=4, positions=131072),
        tied=_TIED,
        qkv_bias=Switch("use_bias"),
        out_bias=Switch("use_bias"),
        head_bias=Switch("use_bias"),
        feed_forward=Mixture(
            Moe(
                0, 0, 0, router_float32=True,
                correction=Correction("moe_statics.e_score_correction_bias", parameter=True, row=True),
            ),
            Key(("moe_num_experts", "num_experts"), 64),
            Key(("moe_k", "num_experts_per_tok"), 6),
            Key(("moe_intermediate_size",), 1536),
            shared_count=Key(("moe_num_shared_experts",), 2, least=0),
            sparse=mixture.between,
            bias_key="use_bias",
        ),
    ),
    "hy_v3": Style(
        "HYV3ForCausalLM",
        Defaults(4096, 80, 64, 13312, 120832, kv_heads=8, head_dim=128, positions=131072),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        norm=QueryKeyNorm(),
        feed_forward=Mixture(
            Moe(
                0, 0, 0, router="router.gate", router_float32=True,
                correction=Correction("expert_bias"),
                shared=Mlp(0, name="shared_mlp.", role=Role.SHARED_EXPERT),
            ),
            Key(("num_experts", "num_local_experts"), 192),
            Key(("num_experts_per_tok",), 8),
            Key(("moe_intermediate_size",), 1536),
            shared_count=Key(("num_shared_experts",), 1, least=0),
            sparse=mixture.listed(mixture.first_dense(1)),
            bias_key="mlp_bias",
        ),
        draft=lambda config, text, layer: mtp.prediction_layers(config, text, layer, mtp.HUNYUAN),
    ),
    "exaone_moe": Style(
        "ExaoneMoeForCausalLM",
        Defaults(4096, 32, 32, 16384, 102400, kv_heads=32),
        norm=QueryKeyNorm(),
        windows=windows.interleaved(4),
        feed_forward=Mixture(
            Moe(
                0, 0, 0, router_float32=True, correction=Correction("e_score_correction_bias"),
            ),
            Key(("num_experts", "num_local_experts"), 64),
            Key(("num_experts_per_tok",), 8),
            Key(("moe_intermediate_size",), 1024),
            shared_count=Key(("num_shared_experts",), 1, least=0),
            sparse=mixture.listed(mixture.first_dense(1, "first_k_dense_replace")),
        ),
    ),
    "solar_open": Style(
        "SolarOpenForCausalLM",
        qkv_bias=ATTENTION_BIAS,
        feed_forward=Mixture(
            _STEERED,
            Key(_ROUTED, 128),
            Key(("num_experts_per_tok",), 8),
            Key(("moe_intermediate_size",), 1280),
            shared_count=Key(("n_shared_experts",), 1, least=0),
        ),
        shape=_without_dense_width,
    ),
    "flex_olmo": Style(
        "FlexOlmoForCausalLM",
        Defaults(4096, 32, 32, 11008, 100352, positions=4096),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        norm=QueryKeyNorm(span=NormSpan.WHOLE),
        norms=Norms(("post_attention_layernorm", "post_feedforward_layernorm")),
        feed_forward=Mixture(
            _PLAIN,
            Key(("num_experts", "num_local_experts"), 7),
            Key(("num_experts_per_tok",), 5),
            Key(("intermediate_size",), 11008),
        ),
    ),
    "deepseek": Style(
        "DeepseekForCausalLM",
        Defaults(positions=2048),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        feed_forward=Mixture(
            _PLAIN,
            Key(_ROUTED),
            Key(("num_experts_per_tok",)),
            Key(("moe_intermediate_size",), 1407),
            shared_count=Key(("n_shared_experts",), 0, least=0),
            sparse=mixture.after_first_stepping,
        ),
    ),
}  # fmt: skip


def build(config: Config, model_id: str) -> Model:
    """A mixture-of-experts decoder in the style of its class."""
    return build_from(STYLES, config, model_id)
