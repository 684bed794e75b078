"""GGUF architectures: the value of ``general.architecture`` and what it keeps. One row each."""

from typing import Final

from vramledger.frozen import frozen
from vramledger.model.gguf import caches
from vramledger.model.gguf.caches import Caches
from vramledger.model.model import ModelKind


@frozen
class GgufArchitecture:
    """How to read one architecture's metadata."""

    model_type: str  # the same network's name in a config.json
    caches: Caches
    kind: ModelKind = ModelKind.DECODER
    gated_mlp: bool = True


_FULL: Final = (
    "llama", "qwen2", "qwen2moe", "qwen2vl", "qwen3", "qwen3moe", "qwen3vl", "qwen3vlmoe",
    "baichuan", "internlm2", "minicpm", "minicpm3", "gemma", "stablelm", "command-r", "olmo",
    "olmoe", "granite", "granitemoe", "deepseek", "chatglm", "glm4", "glm4moe", "exaone",
    "arctic", "dbrx", "orion", "xverse", "smollm3", "ernie4_5", "ernie4_5-moe", "hunyuan-moe",
    "hunyuan-dense", "dots1", "seed_oss", "minimax-m2", "bailingmoe", "bailingmoe2", "deci",
    "apertus", "qwen", "refact", "codeshell", "grok", "phimoe", "mistral3", "pangu-embedded",
)  # fmt: skip
_FULL_PLAIN_MLP: Final = (
    "gpt2", "gptj", "gptneox", "falcon", "bloom", "mpt", "starcoder", "starcoder2", "phi2",
    "nemotron", "jais",
)  # fmt: skip
_ENCODERS: Final = (
    "bert", "nomic-bert", "nomic-bert-moe", "jina-bert-v2", "jina-bert-v3", "neo-bert",
    "modern-bert", "gemma-embedding", "t5encoder", "clip",
)  # fmt: skip
_MODEL_TYPES: Final = {
    "qwen2moe": "qwen2_moe", "qwen2vl": "qwen2_vl", "qwen3moe": "qwen3_moe",
    "qwen3vl": "qwen3_vl", "qwen3vlmoe": "qwen3_vl_moe", "command-r": "cohere",
    "glm4moe": "glm4_moe", "ernie4_5-moe": "ernie4_5_moe", "hunyuan-moe": "hunyuan_v1_moe",
    "hunyuan-dense": "hunyuan_v1_dense", "minimax-m2": "minimax_m2", "deci": "nemotron-nas",
    "gptneox": "gpt_neox", "starcoder": "gpt_bigcode", "phi2": "phi", "granitemoe": "granitemoe",
}  # fmt: skip


def _rows() -> dict[str, GgufArchitecture]:
    decoder = ModelKind.DECODER
    rows = {name: GgufArchitecture(_model_type(name), caches.full) for name in _FULL}
    rows |= {
        name: GgufArchitecture(_model_type(name), caches.full, decoder, gated_mlp=False)
        for name in _FULL_PLAIN_MLP
    }
    rows |= {
        name: GgufArchitecture(_model_type(name), caches.none, ModelKind.ENCODER)
        for name in _ENCODERS
    }
    return rows | _OTHERS


def _model_type(name: str) -> str:
    return _MODEL_TYPES.get(name, name)


_OTHERS: Final = {
    "opt": GgufArchitecture("opt", caches.full, gated_mlp=False),
    "phi3": GgufArchitecture("phi3", caches.all_sliding),
    "gemma2": GgufArchitecture("gemma2", caches.sliding(2, full_at=1)),
    "gemma3": GgufArchitecture("gemma3_text", caches.sliding(6, full_at=5)),
    "gemma3n": GgufArchitecture("gemma3n_text", caches.sliding(5, full_at=4)),
    "gemma4": GgufArchitecture("gemma4_text", caches.sliding(6, full_at=5)),
    "cohere2": GgufArchitecture("cohere2", caches.sliding(4, full_at=3)),
    "olmo2": GgufArchitecture("olmo2", caches.sliding(4, full_at=3)),
    "exaone4": GgufArchitecture("exaone4", caches.sliding(4, full_at=3)),
    "gpt-oss": GgufArchitecture("gpt_oss", caches.sliding(2, full_at=1)),
    "mimo2": GgufArchitecture("mimo_v2_flash", caches.sliding(6, full_at=0)),
    "smallthinker": GgufArchitecture("smallthinker", caches.sliding(4, full_at=0)),
    "llama4": GgufArchitecture("llama4_text", caches.chunked),
    "deepseek2": GgufArchitecture("deepseek_v3", caches.latent),
    "deepseek32": GgufArchitecture("deepseek_v32", caches.latent),
    "glm-dsa": GgufArchitecture("glm_moe_dsa", caches.latent),
    "mamba": GgufArchitecture("mamba", caches.recurrent(caches.mamba1)),
    "mamba2": GgufArchitecture("mamba2", caches.recurrent(caches.mamba2)),
    "jamba": GgufArchitecture("jamba", caches.hybrid(caches.mamba1)),
    "granitehybrid": GgufArchitecture("granitemoehybrid", caches.hybrid(caches.mamba2)),
    "falcon-h1": GgufArchitecture("falcon_h1", caches.parallel(caches.mamba2)),
    "nemotron_h": GgufArchitecture(
        "nemotron_h", caches.hybrid(caches.mamba2, feed_forward_alone=True), gated_mlp=False
    ),
    "nemotron_h_moe": GgufArchitecture(
        "nemotron_h", caches.hybrid(caches.mamba2, feed_forward_alone=True), gated_mlp=False
    ),
    "qwen3next": GgufArchitecture("qwen3_next", caches.interval(caches.gated_delta)),
    "qwen35": GgufArchitecture("qwen3_5_text", caches.interval(caches.gated_delta)),
    "qwen35moe": GgufArchitecture("qwen3_5_moe_text", caches.interval(caches.gated_delta)),
    "lfm2": GgufArchitecture("lfm2", caches.hybrid(caches.short_convolution)),
    "lfm2moe": GgufArchitecture("lfm2_moe", caches.hybrid(caches.short_convolution)),
    "t5": GgufArchitecture("t5", caches.cross, ModelKind.ENCODER_DECODER),
}  # fmt: skip

ARCHITECTURES: Final = _rows()
