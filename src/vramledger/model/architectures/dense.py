"""Dense decoders in the manner of Llama.

Class defaults are those of the configuration classes in transformers 5.24.
"""

from dataclasses import replace
from typing import Final

from vramledger.frozen import frozen
from vramledger.model.architectures import windows
from vramledger.model.architectures.decoder import Frame, Norms
from vramledger.model.architectures.shape import Defaults
from vramledger.model.architectures.style import (
    ATTENTION_BIAS,
    MLP_BIAS,
    ON,
    Parallel,
    Style,
    Switch,
    build_from,
)
from vramledger.model.blocks.attention import NormSpan, ProjectionNames, QueryKeyNorm
from vramledger.model.blocks.mlp import FUSED, PLAIN
from vramledger.model.config import Config
from vramledger.model.model import Model
from vramledger.model.tensor import Role, Tensor

_TIED: Final = Switch("tie_word_embeddings", default=True)
_BIASED: Final = Switch("attention_bias", default=True)
_GLM: Final = Defaults(4096, 40, 32, 13696, 151552, kv_heads=2, head_dim=128, positions=131072)
_QWEN_WINDOWS: Final = windows.switched(lambda i, bound: i >= bound)


@frozen
class LearnedActivation:
    """Apertus' xIELU: two learned scalars a layer."""

    def tensors(self, prefix: str, layer: int, _hidden: int) -> list[Tensor]:
        return [
            Tensor(f"{prefix}mlp.act_fn.{name}", (1,), Role.MLP, layer=layer)
            for name in ("alpha_p", "alpha_n")
        ]


_LLAMA: Final = Style(
    "LlamaForCausalLM",
    Defaults(4096, 32, 32, 11008, 32000),
    qkv_bias=ATTENTION_BIAS,
    out_bias=ATTENTION_BIAS,
    mlp_bias=MLP_BIAS,
)

STYLES: Final = {
    "llama": _LLAMA,
    "aquila": replace(_LLAMA, architecture="AquilaForCausalLM"),
    "xverse": replace(_LLAMA, architecture="XverseForCausalLM"),
    "mistral": Style(
        "MistralForCausalLM",
        Defaults(4096, 32, 32, 14336, 32000, kv_heads=8, positions=131072),
        windows=windows.everywhere(4096),
    ),
    "ministral": Style(
        "MinistralForCausalLM",
        Defaults(4096, 32, 32, 14336, 32000, kv_heads=8, positions=131072),
        windows=windows.listed(4096),
    ),
    "ministral3": Style(
        "Ministral3ForCausalLM",
        Defaults(4096, 34, 32, 14336, 131072, kv_heads=8, head_dim=128, positions=262144),
        windows=windows.everywhere(),
    ),
    "qwen2": Style(
        "Qwen2ForCausalLM",
        Defaults(4096, 32, 32, 22016, 151936, kv_heads=32, positions=32768),
        qkv_bias=ON,
        windows=_QWEN_WINDOWS,
    ),
    "qwen3": Style(
        "Qwen3ForCausalLM",
        Defaults(4096, 32, 32, 22016, 151936, kv_heads=32, head_dim=128, positions=32768),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        norm=QueryKeyNorm(),
        windows=_QWEN_WINDOWS,
    ),
    "phi": Style(
        "PhiForCausalLM",
        Defaults(2048, 24, 32, 8192, 51200),
        qkv_bias=ON,
        out_bias=ON,
        mlp_bias=ON,
        head_bias=ON,
        norm=QueryKeyNorm("q_layernorm", "k_layernorm", bias=True),
        norm_when=Switch("qk_layernorm"),
        norms=Norms(("input_layernorm",), bias=True),
        projections=ProjectionNames(out="dense"),
        mlp_names=("fc1", "fc2"),
        frame=Frame(norm="model.final_layernorm"),
    ),
    "phi3": Style(
        "Phi3ForCausalLM",
        Defaults(3072, 32, 32, 8192, 32064, positions=4096),
        projections=ProjectionNames.fused("qkv_proj", "o_proj"),
        mlp_names=FUSED,
        windows=windows.everywhere(),
    ),
    "gemma": Style(
        "GemmaForCausalLM",
        Defaults(3072, 28, 16, 24576, 256000, kv_heads=16, head_dim=256, positions=8192),
        tied=_TIED,
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        looks_both_ways=Switch("use_bidirectional_attention"),
    ),
    "cohere": Style(
        "CohereForCausalLM",
        Defaults(8192, 40, 64, 22528, 256000, positions=8192),
        tied=_TIED,
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        norm=QueryKeyNorm(span=NormSpan.EACH),
        norm_when=Switch("use_qk_norm"),
        norms=Norms(("input_layernorm",)),
    ),
    "cohere2": Style(
        "Cohere2ForCausalLM",
        Defaults(8192, 40, 64, 22528, 256000, positions=8192),
        tied=_TIED,
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        norms=Norms(("input_layernorm",)),
        windows=windows.interleaved(4),
    ),
    "olmo": Style(
        "OlmoForCausalLM",
        Defaults(4096, 32, 32, 11008, 50304),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        norms=Norms(()),
        frame=Frame(norm=""),
    ),
    "starcoder2": Style(
        "Starcoder2ForCausalLM",
        Defaults(3072, 30, 24, 12288, 49152, kv_heads=2, positions=4096),
        tied=_TIED,
        qkv_bias=Switch("use_bias", default=True),
        out_bias=Switch("use_bias", default=True),
        mlp_bias=Switch("use_bias", default=True),
        norms=Norms(bias=True),
        mlp_names=("c_fc", "c_proj"),
        windows=windows.everywhere(),
    ),
    "stablelm": Style(
        "StableLmForCausalLM",
        Defaults(2560, 32, 32, 6912, 50304, kv_heads=32, positions=4096),
        qkv_bias=Switch("use_qkv_bias"),
        norm=QueryKeyNorm("q_layernorm", "k_layernorm", span=NormSpan.SPLIT),
        norm_when=Switch("qk_layernorm"),
        norms=Norms(bias=True),
        parallel=Parallel(Switch("use_parallel_residual"), Norms(("input_layernorm",), bias=True)),
    ),
    "granite": Style(
        "GraniteForCausalLM",
        Defaults(4096, 32, 32, 11008, 32000),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        mlp_bias=MLP_BIAS,
    ),
    "glm": Style("GlmForCausalLM", _GLM, qkv_bias=_BIASED, mlp_names=FUSED),
    "smollm3": Style(
        "SmolLM3ForCausalLM",
        Defaults(2048, 36, 16, 11008, 128256, kv_heads=4, positions=32768),
        tied=_TIED,
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        mlp_bias=MLP_BIAS,
        windows=windows.without_rope,
    ),
    "seed_oss": Style(
        "SeedOssForCausalLM",
        Defaults(4096, 64, 80, 27648, 155136, kv_heads=8, head_dim=128, positions=524288),
        qkv_bias=_BIASED,
        out_bias=Switch("attention_out_bias"),
        mlp_bias=MLP_BIAS,
    ),
    "ernie4_5": Style(
        "Ernie4_5ForCausalLM",
        Defaults(1024, 18, 16, 3072, 103424, kv_heads=2, head_dim=128, positions=131072),
        tied=_TIED,
        qkv_bias=Switch("use_bias"),
        out_bias=Switch("use_bias"),
        mlp_bias=Switch("use_bias"),
    ),
    "nemotron": Style(
        "NemotronForCausalLM",
        Defaults(6144, 32, 48, 24576, 256000, positions=4096),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        mlp_bias=MLP_BIAS,
        norms=Norms(bias=True),
        mlp_names=PLAIN,
    ),
    "apertus": Style(
        "ApertusForCausalLM",
        Defaults(4096, 32, 32, 14336, 131072, positions=65536),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        norm=QueryKeyNorm(),
        norms=Norms(("attention_layernorm", "feedforward_layernorm")),
        mlp_names=PLAIN,
        others=(LearnedActivation(),),
    ),
    "arcee": Style(
        "ArceeForCausalLM",
        Defaults(2560, 32, 32, 18432, 32000, positions=4096),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        mlp_bias=MLP_BIAS,
        mlp_names=PLAIN,
    ),
    "persimmon": Style(
        "PersimmonForCausalLM",
        Defaults(4096, 36, 64, 16384, 262144, positions=16384),
        qkv_bias=ON,
        out_bias=ON,
        mlp_bias=ON,
        norm=QueryKeyNorm("q_layernorm", "k_layernorm", bias=True),
        norm_when=Switch("qk_layernorm", default=True),
        norms=Norms(bias=True),
        projections=ProjectionNames.fused("query_key_value", "dense"),
        mlp_names=("dense_h_to_4h", "dense_4h_to_h"),
        frame=Frame(norm="model.final_layernorm"),
    ),
    "helium": Style(
        "HeliumForCausalLM",
        Defaults(2560, 24, 20, 7040, 48000, kv_heads=20, head_dim=128, positions=4096),
        qkv_bias=ATTENTION_BIAS,
        mlp_bias=MLP_BIAS,
    ),
    "internlm3": Style(
        "InternLM3ForCausalLM",
        Defaults(4096, 48, 32, 10240, 128512, kv_heads=2, head_dim=128, positions=32768),
        qkv_bias=Switch("qkv_bias"),
        out_bias=Switch("bias"),
        mlp_bias=Switch("bias"),
    ),
    "hunyuan_v1_dense": Style(
        "HunYuanDenseV1ForCausalLM",
        Defaults(4096, 32, 32, 11008, 290943),
        qkv_bias=ATTENTION_BIAS,
        out_bias=ATTENTION_BIAS,
        norm=QueryKeyNorm("query_layernorm", "key_layernorm"),
    ),
}


def build(config: Config, model_id: str) -> Model:
    """A dense decoder in the style of its class."""
    return build_from(STYLES, config, model_id)
