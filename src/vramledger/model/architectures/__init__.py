"""Architectures: one module a family of classes, found by ``model_type``.

A module offers ``build(config, model_id) -> Model``. Adding an architecture is one module and
one row here.
"""

from dataclasses import replace
from importlib import import_module
from typing import Final, Protocol, cast

from vramledger.errors import UnknownName
from vramledger.model.config import Config
from vramledger.model.model import Model
from vramledger.model.rotary import rotary_tables

MODULES: Final = {
    # dense decoders in the manner of Llama
    "apertus": "dense",
    "aquila": "dense",
    "arcee": "dense",
    "cohere": "dense",
    "cohere2": "dense",
    "ernie4_5": "dense",
    "gemma": "dense",
    "glm": "dense",
    "granite": "dense",
    "helium": "dense",
    "hunyuan_v1_dense": "dense",
    "internlm3": "dense",
    "llama": "dense",
    "ministral": "dense",
    "ministral3": "dense",
    "mistral": "dense",
    "nemotron": "dense",
    "olmo": "dense",
    "persimmon": "dense",
    "phi": "dense",
    "phi3": "dense",
    "qwen2": "dense",
    "qwen3": "dense",
    "seed_oss": "dense",
    "smollm3": "dense",
    "stablelm": "dense",
    "starcoder2": "dense",
    "xverse": "dense",
    "exaone4": "post_norm",
    "gemma2": "post_norm",
    "gemma3_text": "post_norm",
    "glm4": "post_norm",
    "olmo2": "post_norm",
    "olmo3": "post_norm",
    "baichuan": "named",
    "chatglm": "named",
    "exaone": "named",
    "internlm": "named",
    "internlm2": "named",
    "mimo": "named",
    "minicpm": "named",
    "orion": "named",
    "qwen": "named",
    "bloom": "gpt",
    "codegen": "gpt",
    "gpt2": "gpt",
    "gpt_bigcode": "gpt",
    "gpt_neox": "gpt",
    "gptj": "gpt",
    "mpt": "gpt",
    "opt": "opt",
    "falcon": "falcon",
    "nemotron-nas": "nemotron_nas",
    # mixtures of experts
    "deepseek": "moe",
    "dots1": "moe",
    "ernie4_5_moe": "moe",
    "exaone_moe": "moe",
    "flex_olmo": "moe",
    "glm4_moe": "moe",
    "gpt_oss": "moe",
    "hy_v3": "moe",
    "minimax_m2": "moe",
    "mixtral": "moe",
    "olmoe": "moe",
    "phimoe": "moe",
    "qwen2_moe": "moe",
    "qwen3_moe": "moe",
    "solar_open": "moe",
    "granitemoe": "granitemoe",
    "granitemoeshared": "granitemoe",
    "hunyuan_v1_moe": "hunyuan_v1_moe",
    "dbrx": "dbrx",
    "mimo_v2_flash": "mimo_v2_flash",
    "step3p5": "step3p5",
    "llama4_text": "llama4_text",
    "minimax_m3": "minimax_m3",
    "minimax_m3_vl_text": "minimax_m3",
    # latent and compressed attention
    "deepseek_v2": "mla",
    "deepseek_v3": "mla",
    "deepseek_v32": "mla",
    "glm4_moe_lite": "mla",
    "glm_moe_dsa": "mla",
    "kimi_k2": "mla",
    "minicpm3": "mla",
    "mistral4": "mla",
    "longcat_flash": "longcat_flash",
    "deepseek_ref": "deepseek_v4",
    "deepseek_v4": "deepseek_v4",
    # encoders
    "bert": "bert",
    "roberta": "bert",
    "xlm-roberta": "bert",
    "modernbert": "modernbert",
    # recurrent and hybrid decoders
    "mamba": "mamba",
    "mamba2": "mamba",
    "falcon_mamba": "mamba",
    "falcon_h1": "falcon_h1",
    "jamba": "jamba",
    "bamba": "bamba",
    "granitemoehybrid": "granitemoehybrid",
    "recurrent_gemma": "recurrent_gemma",
    "lfm2": "lfm2",
    "minimax": "minimax",
    "nemotron_h": "nemotron_h",
    "zamba2": "zamba2",
    "qwen3_next": "qwen3_next",
    "qwen3_5_text": "qwen3_next",
    "qwen3_5_moe_text": "qwen3_next",
    "kimi_linear": "kimi_linear",
    # encoder-decoder models
    "bart": "bart",
    "t5": "t5",
    "whisper": "whisper",
    # language models inside multimodal classes
    "qwen2_vl_text": "vl_text",
    "qwen2_5_vl_text": "vl_text",
    "qwen3_vl_text": "vl_text",
    "qwen3_vl_moe_text": "vl_text",
    "glm4v_moe_text": "vl_text",
    "gemma3n_text": "gemma3n_text",
    "gemma4_text": "gemma4_text",
    "gemma4_unified_text": "gemma4_text",
    # multimodal models
    "qwen2_vl": "qwen_vl",
    "qwen2_5_vl": "qwen_vl",
    "qwen3_vl": "qwen_vl",
    "qwen3_vl_moe": "qwen_vl",
    "qwen3_5": "qwen_vl",
    "qwen3_5_moe": "qwen_vl",
    "glm4v_moe": "qwen_vl",
    "llava": "llava",
    "gemma3": "llava",
    "mistral3": "llava",
    "lfm2_vl": "llava",
    "kimi_vl": "kimi_vl",
    "kimi_k25": "kimi_vl",
    "kimi_k3": "kimi_vl",
    "gemma3n": "gemma_multimodal",
    "llama4": "llama4",
    "mllama": "mllama",
    "voxtral": "voxtral",
    "qwen2_audio": "voxtral",
    "minimax_m3_vl": "minimax_m3_vl",
    "step3p7": "step3p7",
    "phi3_v": "phi3_v",
    "internvl": "llava",
    "gemma4": "gemma_multimodal",
    "gemma4_unified": "gemma_multimodal",
}


class Architecture(Protocol):
    """What a module of this package offers."""

    def build(self, config: Config, model_id: str) -> Model: ...


def build(config: Config, model_id: str) -> Model:
    """The model that a configuration describes, with weights as the class builds them.

    Raises:
        UnknownName: the ``model_type`` is none of ours.
        BadInput: a value is missing or out of range.
    """
    model_type = config.text("model_type")
    module = MODULES.get(model_type)
    if module is None:
        raise UnknownName("model_type", model_type, MODULES, f"{config.where}, 'model_type'")
    loaded = import_module(f"{__name__}.{module}")
    model = cast("Architecture", loaded).build(config, model_id)
    if model.rotary:  # a multimodal model brings the tables of its text part
        return model
    return replace(model, rotary=rotary_tables(config, model.text.head_dim))
