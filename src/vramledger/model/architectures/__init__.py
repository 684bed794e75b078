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
    "xverse": "dense",
    "aquila": "dense",
    "persimmon": "dense",
    "flex_olmo": "moe",
    "solar_open": "moe",
    "exaone_moe": "moe",
    "mistral4": "mla",
    "dbrx": "dbrx",
    "granitemoeshared": "granitemoe",
    "modernbert": "modernbert",
    "xlm-roberta": "bert",
    "roberta": "bert",
    "bert": "bert",
    "llama4_text": "llama4_text",
    "step3p5": "step3p5",
    "minimax_m3_vl_text": "minimax_m3",
    "minimax_m3": "minimax_m3",
    "longcat_flash": "longcat_flash",
    "nemotron-nas": "nemotron_nas",
    "mimo_v2_flash": "mimo_v2_flash",
    "hunyuan_v1_moe": "hunyuan_v1_moe",
    "gpt_oss": "moe",
    "apertus": "dense",
    "stablelm": "dense",
    "falcon": "falcon",
    "opt": "opt",
    "mpt": "gpt",
    "bloom": "gpt",
    "gpt_neox": "gpt",
    "codegen": "gpt",
    "gptj": "gpt",
    "gpt_bigcode": "gpt",
    "gpt2": "gpt",
    "qwen": "named",
    "chatglm": "named",
    "deepseek_ref": "deepseek_v4",
    "deepseek_v4": "deepseek_v4",
    "mimo": "named",
    "minicpm": "named",
    "orion": "named",
    "exaone": "named",
    "internlm2": "named",
    "internlm": "named",
    "baichuan": "named",
    "minicpm3": "mla",
    "glm4_moe_lite": "mla",
    "glm_moe_dsa": "mla",
    "deepseek_v32": "mla",
    "kimi_k2": "mla",
    "deepseek_v3": "mla",
    "deepseek_v2": "mla",
    "deepseek": "moe",
    "hy_v3": "moe",
    "ernie4_5_moe": "moe",
    "dots1": "moe",
    "glm4_moe": "moe",
    "minimax_m2": "moe",
    "granitemoe": "granitemoe",
    "phimoe": "moe",
    "olmoe": "moe",
    "qwen3_moe": "moe",
    "qwen2_moe": "moe",
    "mixtral": "moe",
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
    "arcee": "dense",
    "cohere": "dense",
    "cohere2": "dense",
    "ernie4_5": "dense",
    "exaone4": "post_norm",
    "gemma": "dense",
    "gemma2": "post_norm",
    "gemma3_text": "post_norm",
    "glm": "dense",
    "glm4": "post_norm",
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
    "olmo2": "post_norm",
    "olmo3": "post_norm",
    "phi": "dense",
    "phi3": "dense",
    "qwen2": "dense",
    "qwen3": "dense",
    "seed_oss": "dense",
    "smollm3": "dense",
    "starcoder2": "dense",
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
