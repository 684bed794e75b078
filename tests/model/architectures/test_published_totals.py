"""Totals that publishers print for models outside the reference table."""

from typing import Any

import pytest

from building import model_of
from vramledger.errors import BadInput
from vramledger.model.model import ModelKind, count_elements
from vramledger.model.tensor import Role

LLAMA_SHAPE = {"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32}

PUBLISHED: dict[str, tuple[int, dict[str, Any]]] = {
    "Qwen-7B": (
        7_721_324_544,
        {
            "model_type": "qwen", **LLAMA_SHAPE, "intermediate_size": 22016, "kv_channels": 128,
            "vocab_size": 151936, "seq_length": 8192, "no_bias": True,
        },
    ),
    "DeepSeek-V2-Lite": (
        15_706_484_224,
        {
            "model_type": "deepseek_v2", "hidden_size": 2048, "num_hidden_layers": 27,
            "num_attention_heads": 16, "intermediate_size": 10944, "moe_intermediate_size": 1408,
            "n_routed_experts": 64, "n_shared_experts": 2, "num_experts_per_tok": 6,
            "first_k_dense_replace": 1, "q_lora_rank": None, "vocab_size": 102400,
        },
    ),
    "mpt-7b": (
        6_649_286_656,
        {"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 32, "vocab_size": 50432},
    ),
    "gpt-j-6b": (
        6_050_882_784,
        {"model_type": "gptj", "n_embd": 4096, "n_layer": 28, "n_head": 16, "vocab_size": 50400},
    ),
    "opt-350m": (
        331_196_416,
        {
            "model_type": "opt", "hidden_size": 1024, "num_hidden_layers": 24,
            "num_attention_heads": 16, "ffn_dim": 4096, "vocab_size": 50272,
            "word_embed_proj_dim": 512, "do_layer_norm_before": False,
        },
    ),
    "bloom-7b1": (
        7_069_016_064,
        {
            "model_type": "bloom", "hidden_size": 4096, "n_layer": 30, "n_head": 32,
            "vocab_size": 250880,
        },
    ),
    "gpt2-xl": (
        1_557_611_200,
        {"model_type": "gpt2", "n_embd": 1600, "n_layer": 48, "n_head": 25, "vocab_size": 50257},
    ),
    "Apertus-8B": (
        8_053_338_176,
        {
            "model_type": "apertus", **LLAMA_SHAPE, "num_key_value_heads": 8,
            "intermediate_size": 21504, "vocab_size": 131072,
        },
    ),
    "falcon-40b": (
        41_303_293_952,
        {
            "model_type": "falcon", "hidden_size": 8192, "num_hidden_layers": 60,
            "num_attention_heads": 128, "num_kv_heads": 8, "new_decoder_architecture": True,
            "vocab_size": 65024,
        },
    ),
    "Baichuan-7B": (
        7_000_559_616,
        {
            "model_type": "baichuan", **LLAMA_SHAPE, "intermediate_size": 11008,
            "vocab_size": 64000,
        },
    ),
    "dbrx-instruct": (
        131_596_523_520,
        {
            "model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40,
            "vocab_size": 100352, "attn_config": {"kv_n_heads": 8},
            "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4},
        },
    ),
    "bert-base": (
        109_482_240,
        {
            "model_type": "bert", "hidden_size": 768, "num_hidden_layers": 12,
            "num_attention_heads": 12, "intermediate_size": 3072, "vocab_size": 30522,
        },
    ),
    "bge-m3": (
        567_754_752,
        {
            "model_type": "xlm-roberta", "architectures": ["XLMRobertaModel"],
            "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16,
            "intermediate_size": 4096, "vocab_size": 250002, "max_position_embeddings": 8194,
            "type_vocab_size": 1,
        },
    ),
    "ModernBERT-base": (
        149_655_232,
        {
            "model_type": "modernbert", "architectures": ["ModernBertForMaskedLM"],
            "hidden_size": 768, "num_hidden_layers": 22, "num_attention_heads": 12,
            "intermediate_size": 1152, "vocab_size": 50368,
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_published_totals_are_met_exactly(name: str) -> None:
    total, keys = PUBLISHED[name]
    assert model_of(**keys).params_total == total


def test_longcat_flash_totals_include_its_prediction_layer_and_biases() -> None:
    model = model_of(
        "longcat_flash", hidden_size=6144, num_layers=28, num_attention_heads=64,
        ffn_hidden_size=12288, vocab_size=131072,
    )  # fmt: skip
    biases = model.params_of(Role.BUFFER)
    assert biases == 28 * 768
    stored = model.params_total + count_elements(model.extra_tensors) + biases
    assert stored == 561_862_880_256


def test_glm_4_9b_chat_is_its_published_total_less_the_stored_frequencies() -> None:
    model = model_of(
        "chatglm", hidden_size=4096, num_layers=40, num_attention_heads=32, kv_channels=128,
        ffn_hidden_size=13696, padded_vocab_size=151552, seq_length=131072,
        multi_query_attention=True, multi_query_group_num=2, add_qkv_bias=True,
        add_bias_linear=False,
    )  # fmt: skip
    assert model.params_total == 9_399_951_392 - 32


def test_deepseek_r1_with_its_prediction_layer_is_684_billion() -> None:
    model = model_of(
        "deepseek_v3", hidden_size=7168, num_hidden_layers=61, num_attention_heads=128,
        intermediate_size=18432, vocab_size=129280, num_nextn_predict_layers=1,
    )  # fmt: skip
    assert model.params_total == 671_026_404_352
    assert model.params_total + count_elements(model.extra_tensors) == 684_489_830_656
    assert {t.role for t in model.extra_tensors} == {Role.DRAFT}
    assert {t.layer for t in model.extra_tensors if t.layer is not None} == {61}


def test_an_embedding_decoder_has_no_language_head() -> None:
    mistral = {
        **LLAMA_SHAPE, "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000,
    }  # fmt: skip
    speaking = model_of("mistral", **mistral)
    embedding = model_of("mistral", **mistral, architectures=["MistralModel"])
    assert embedding.architecture == "MistralModel"
    assert embedding.params_total == 7_110_660_096
    assert speaking.params_total == 7_241_732_096


def test_a_scoring_decoder_has_one_row_a_label_instead_of_a_language_head() -> None:
    shape = {**LLAMA_SHAPE, "intermediate_size": 11008, "vocab_size": 32000}
    bare = model_of("llama", **shape, architectures=["LlamaModel"])
    scoring = model_of(
        "llama", **shape, architectures=["LlamaForSequenceClassification"], id2label={"0": "good"}
    )
    assert scoring.params_total == bare.params_total + 4096


def test_a_gemma_that_looks_both_ways_is_an_encoder_without_a_cache() -> None:
    shape = {
        "hidden_size": 768, "num_hidden_layers": 24, "num_attention_heads": 3,
        "num_key_value_heads": 1, "intermediate_size": 1152, "vocab_size": 262144,
        "sliding_window": 512,
    }  # fmt: skip
    model = model_of("gemma3_text", **shape, use_bidirectional_attention=True)
    assert model.kind is ModelKind.ENCODER
    assert model.cache_layers == ()
    assert model.params_total == 302_863_104
    assert len(model_of("gemma3_text", **shape).cache_layers) == 24


def test_a_nas_block_may_replace_its_parts_by_square_maps_or_nothing() -> None:
    linear = {"replace_with_linear": True}
    model = model_of(
        "nemotron-nas", hidden_size=64, num_attention_heads=4, vocab_size=256, block_configs=[
            {"attention": {"n_heads_in_group": 2}, "ffn": {"ffn_mult": 2.625}},
            {"attention": linear, "ffn": linear},
            {"attention": {"no_op": True}, "ffn": {"intermediate_size": 96}},
        ],
    )  # fmt: skip
    sizes = [sum(t.elements for t in model.tensors if t.layer == i) for i in range(3)]
    attention, mlp = 64 * 64 * 2 + 2 * 32 * 64, 3 * 64 * 256
    assert sizes == [attention + mlp + 2 * 64, 2 * 64 * 64 + 2 * 64, 3 * 64 * 96 + 64]
    assert [cache.layer for cache in model.cache_layers] == [0]
    assert model.text.kv_heads == 2


def test_the_first_chatglm_is_refused_for_what_it_lacks() -> None:
    with pytest.raises(BadInput) as refusal:
        model_of(
            "chatglm", hidden_size=4096, num_layers=28, num_attention_heads=32, vocab_size=130528,
            inner_hidden_size=16384,
        )  # fmt: skip
    assert str(refusal.value) == (
        "config.json has no 'ffn_hidden_size', which this architecture needs; add it."
    )
