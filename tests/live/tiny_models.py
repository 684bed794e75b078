"""Tiny models of many cache families: a configuration and a byte-level tokenizer, no weights.

Each starts in seconds with ``--load-format dummy``; their sizes differ so that a rule that holds
for one of them by accident does not hold for the next.
"""

import json
from pathlib import Path
from typing import Any, Final

Config = dict[str, Any]

_SPECIAL: Final = ("<unk>", "<s>", "</s>")
_CONTEXT: Final = 4096


def _text(architecture: str, model_type: str, **changes: Any) -> Config:
    """A Llama-shaped configuration with what differs."""
    shape: Config = {
        "architectures": [architecture],
        "model_type": model_type,
        "vocab_size": 512,
        "hidden_size": 256,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 64,
        "intermediate_size": 512,
        "max_position_embeddings": _CONTEXT,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10000.0,
        "hidden_act": "silu",
        "bos_token_id": 1,
        "eos_token_id": 2,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
    }
    return shape | changes


_MAMBA2: Final[Config] = {
    "mamba_n_heads": 8,
    "mamba_d_head": 64,
    "mamba_n_groups": 1,
    "mamba_d_state": 64,
    "mamba_d_conv": 4,
    "mamba_expand": 2,
    "mamba_chunk_size": 256,
    "mamba_conv_bias": True,
    "mamba_proj_bias": False,
}
_LATENT: Final[Config] = {
    "num_key_value_heads": 4,
    "q_lora_rank": None,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "qk_nope_head_dim": 128,
    "v_head_dim": 128,
    "n_routed_experts": 4,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 64,
    "first_k_dense_replace": 1,
    "moe_layer_freq": 1,
    "n_group": 1,
    "topk_group": 1,
    "topk_method": "greedy",
    "scoring_func": "softmax",
    "routed_scaling_factor": 1.0,
    "norm_topk_prob": False,
    "rope_scaling": None,
}
_SPARSE: Final[Config] = {
    "q_lora_rank": 128,
    "index_n_heads": 4,
    "index_head_dim": 128,
    "index_topk": 64,
    "topk_method": "noaux_tc",
    "scoring_func": "sigmoid",
}
_STATE_SPACE: Final[Config] = {
    "vocab_size": 512,
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "conv_kernel": 4,
    "expand": 2,
    "time_step_rank": 16,
    "use_bias": False,
    "use_conv_bias": True,
    "hidden_act": "silu",
    "layer_norm_epsilon": 1e-5,
    "rms_norm": True,
    "residual_in_fp32": True,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
}
_FALCON_H1_SCALES: Final[Config] = {
    "attention_in_multiplier": 1.0,
    "attention_out_multiplier": 1.0,
    "embedding_multiplier": 1.0,
    "key_multiplier": 1.0,
    "lm_head_multiplier": 1.0,
    "mlp_multipliers": [1.0, 1.0],
    "ssm_in_multiplier": 1.0,
    "ssm_multipliers": [1.0] * 5,
    "ssm_out_multiplier": 1.0,
}
_GRANITE_SCALES: Final[Config] = {
    "embedding_multiplier": 1.0,
    "attention_multiplier": 0.125,
    "residual_multiplier": 1.0,
    "logits_scaling": 1.0,
}

TINY: Final[dict[str, Config]] = {
    "llama": _text("LlamaForCausalLM", "llama"),
    "draft": _text("LlamaForCausalLM", "llama", num_hidden_layers=1, hidden_size=128),
    "qwen3": _text("Qwen3ForCausalLM", "qwen3", head_dim=128),
    "opt": {
        "architectures": ["OPTForCausalLM"],
        "model_type": "opt",
        "vocab_size": 512,
        "hidden_size": 256,
        "word_embed_proj_dim": 256,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "ffn_dim": 512,
        "max_position_embeddings": 2048,
        "do_layer_norm_before": True,
        "activation_function": "relu",
        "bos_token_id": 1,
        "eos_token_id": 2,
        "torch_dtype": "bfloat16",
    },
    "gpt-bigcode": {
        "architectures": ["GPTBigCodeForCausalLM"],
        "model_type": "gpt_bigcode",
        "vocab_size": 512,
        "n_embd": 256,
        "n_layer": 4,
        "n_head": 4,
        "n_inner": 512,
        "n_positions": 2048,
        "multi_query": True,
        "activation_function": "gelu_pytorch_tanh",
        "bos_token_id": 1,
        "eos_token_id": 2,
        "torch_dtype": "bfloat16",
    },
    "phi": {
        "architectures": ["PhiForCausalLM"],
        "model_type": "phi",
        "vocab_size": 512,
        "hidden_size": 320,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 4,
        "intermediate_size": 512,
        "max_position_embeddings": 2048,
        "layer_norm_eps": 1e-5,
        "hidden_act": "gelu_new",
        "partial_rotary_factor": 0.4,
        "rope_theta": 10000.0,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "torch_dtype": "bfloat16",
    },
    "gemma2": _text(
        "Gemma2ForCausalLM",
        "gemma2",
        num_hidden_layers=6,
        sliding_window=128,
        query_pre_attn_scalar=64,
        attn_logit_softcapping=50.0,
        final_logit_softcapping=30.0,
        hidden_activation="gelu_pytorch_tanh",
    ),
    "gemma3": _text(
        "Gemma3ForCausalLM",
        "gemma3_text",
        num_hidden_layers=14,
        sliding_window=128,
        sliding_window_pattern=6,
        query_pre_attn_scalar=64,
        hidden_activation="gelu_pytorch_tanh",
        rope_local_base_freq=10000.0,
        rope_theta=1000000.0,
    ),
    "gpt-oss": _text(
        "GptOssForCausalLM",
        "gpt_oss",
        sliding_window=128,
        layer_types=["sliding_attention", "full_attention"] * 2,
        num_local_experts=4,
        num_experts_per_tok=2,
        swiglu_limit=7.0,
        attention_bias=True,
        rope_theta=150000,
        max_position_embeddings=131072,
        rope_scaling={
            "rope_type": "yarn",
            "factor": 32.0,
            "beta_fast": 32.0,
            "beta_slow": 1.0,
            "truncate": False,
            "original_max_position_embeddings": 4096,
        },
    ),
    "mistral": _text("MistralForCausalLM", "mistral", sliding_window=256),
    "llama4": _text(
        "Llama4ForCausalLM",
        "llama4_text",
        attention_chunk_size=512,
        no_rope_layers=[1, 1, 1, 0],
        layer_types=["chunked_attention"] * 3 + ["full_attention"],
        num_local_experts=2,
        num_experts_per_tok=1,
        interleave_moe_layer_step=1,
        intermediate_size_mlp=512,
        use_qk_norm=False,
        attn_temperature_tuning=False,
        router_aux_loss_coef=0.0,
    ),
    "deepseek-v2": _text("DeepseekV2ForCausalLM", "deepseek_v2", **_LATENT),
    "deepseek-v32": _text("DeepseekV32ForCausalLM", "deepseek_v32", **(_LATENT | _SPARSE)),
    "mamba": _STATE_SPACE
    | {
        "architectures": ["MambaForCausalLM"],
        "model_type": "mamba",
        "state_size": 16,
        "intermediate_size": 512,
    },
    "mamba2": _STATE_SPACE
    | {
        "architectures": ["Mamba2ForCausalLM"],
        "model_type": "mamba2",
        "state_size": 64,
        "num_heads": 8,
        "head_dim": 64,
        "n_groups": 1,
        "chunk_size": 256,
    },
    "jamba": _text(
        "JambaForCausalLM",
        "jamba",
        num_hidden_layers=8,
        attn_layer_period=4,
        attn_layer_offset=2,
        expert_layer_period=2,
        expert_layer_offset=1,
        num_experts=2,
        num_experts_per_tok=1,
        mamba_d_state=16,
        mamba_d_conv=4,
        mamba_expand=2,
        mamba_dt_rank=16,
        mamba_conv_bias=True,
        mamba_proj_bias=False,
        use_mamba_kernels=False,
    ),
    "falcon-h1": _text(
        "FalconH1ForCausalLM",
        "falcon_h1",
        mamba_d_ssm=512,
        mamba_rms_norm=False,
        mamba_norm_before_gate=True,
        projectors_bias=False,
        **(_MAMBA2 | _FALCON_H1_SCALES),
    ),
    "granite-hybrid": _text(
        "GraniteMoeHybridForCausalLM",
        "granitemoehybrid",
        num_hidden_layers=6,
        layer_types=["mamba", "mamba", "attention"] * 2,
        num_local_experts=0,
        num_experts_per_tok=0,
        shared_intermediate_size=512,
        position_embedding_type="nope",
        **(_MAMBA2 | _GRANITE_SCALES),
    ),
    "nemotron-h": _text(
        "NemotronHForCausalLM",
        "nemotron_h",
        num_hidden_layers=6,
        hybrid_override_pattern="M-M*M-",
        attention_head_dim=64,
        ssm_state_size=64,
        mamba_num_heads=8,
        mamba_head_dim=64,
        n_groups=1,
        conv_kernel=4,
        chunk_size=256,
        expand=2,
        mlp_hidden_act="relu2",
        use_conv_bias=True,
        use_bias=False,
        mamba_hidden_act="silu",
        layer_norm_epsilon=1e-5,
        residual_in_fp32=False,
    ),
    "qwen3-next": _text(
        "Qwen3NextForCausalLM",
        "qwen3_next",
        num_hidden_layers=8,
        full_attention_interval=4,
        linear_num_key_heads=2,
        linear_num_value_heads=4,
        linear_key_head_dim=64,
        linear_value_head_dim=64,
        linear_conv_kernel_dim=4,
        num_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=64,
        shared_expert_intermediate_size=64,
        decoder_sparse_step=1,
        norm_topk_prob=True,
        mlp_only_layers=[],
        partial_rotary_factor=0.25,
    ),
    "lfm2": _text(
        "Lfm2ForCausalLM",
        "lfm2",
        num_hidden_layers=6,
        layer_types=["conv", "conv", "full_attention"] * 2,
        conv_L_cache=3,
        conv_dim=256,
        conv_dim_out=256,
        conv_bias=False,
        conv_use_xavier_init=True,
        block_dim=256,
        block_ff_dim=512,
        block_auto_adjust_ff_dim=False,
        block_ffn_dim_multiplier=1.0,
        block_mlp_init_scale=1.0,
        block_multiple_of=64,
        block_norm_eps=1e-5,
        block_out_init_scale=1.0,
        block_use_swiglu=True,
        block_use_xavier_init=True,
        norm_eps=1e-5,
        num_heads=4,
    ),
    "whisper": {
        "architectures": ["WhisperForConditionalGeneration"],
        "model_type": "whisper",
        "vocab_size": 512,
        "d_model": 256,
        "encoder_layers": 2,
        "decoder_layers": 3,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 512,
        "decoder_ffn_dim": 512,
        "num_mel_bins": 80,
        "max_source_positions": 1500,
        "max_target_positions": 448,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "pad_token_id": 2,
        "decoder_start_token_id": 1,
        "is_encoder_decoder": True,
        "torch_dtype": "bfloat16",
    },
}


_SPEECH_INPUT: Final[Config] = {
    "feature_extractor_type": "WhisperFeatureExtractor",
    "processor_class": "WhisperProcessor",
    "feature_size": 80,
    "sampling_rate": 16000,
    "hop_length": 160,
    "chunk_length": 30,
    "n_fft": 400,
    "padding_value": 0.0,
    "return_attention_mask": False,
}


def write_model(directory: Path, config: Config) -> Path:
    """The model as a directory that an engine loads with ``--load-format dummy``."""
    directory.mkdir(parents=True)
    (directory / "config.json").write_text(json.dumps(config, indent=1))
    (directory / "tokenizer.json").write_text(json.dumps(_tokenizer()))
    (directory / "tokenizer_config.json").write_text(
        json.dumps(
            {
                "tokenizer_class": "PreTrainedTokenizerFast",
                "unk_token": _SPECIAL[0],
                "bos_token": _SPECIAL[1],
                "eos_token": _SPECIAL[2],
                "model_max_length": _CONTEXT,
            }
        )
    )
    if config["model_type"] == "whisper":
        (directory / "preprocessor_config.json").write_text(json.dumps(_SPEECH_INPUT))
    return directory


def _tokenizer() -> Config:
    """A tokenizer whose tokens are bytes."""
    level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": True,
    }
    tokens = [*_SPECIAL, *_byte_characters()]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": number,
                "content": token,
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for number, token in enumerate(_SPECIAL)
        ],
        "normalizer": None,
        "pre_tokenizer": level,
        "post_processor": None,
        "decoder": level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "vocab": {token: number for number, token in enumerate(tokens)},
            "merges": [],
        },
    }


def _byte_characters() -> list[str]:
    """The printable character that byte-level tokenizers write for each byte."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    shown = {byte: chr(byte) for byte in printable}
    shown |= {byte: chr(256 + number) for number, byte in enumerate(others)}
    return [shown[byte] for byte in range(256)]
