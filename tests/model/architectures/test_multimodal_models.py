"""Multimodal models: the largest item a request may carry, who ties the head, shared caches."""

import pytest

from building import model_of, tensors_named
from vramledger.errors import BadInput, UnknownName
from vramledger.model.cache import FullAttention, SharedWith, SlidingAttention
from vramledger.model.model import Model, TowerInput
from vramledger.model.tensor import Role

TEXT = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 96,
    "vocab_size": 128,
    "head_dim": 16,
}
TOWER = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2,
         "intermediate_size": 48}  # fmt: skip


def largest(model: Model) -> TowerInput:
    """The only still item; a video comes beside it where its frames are as large."""
    (still,) = (tower for tower in model.towers if not tower.frames_each)
    return still


def test_gemma3_pools_a_square_of_896_pixels_to_256_tokens() -> None:
    model = model_of("gemma3", text_config=TEXT, vision_config={**TOWER, "image_size": 896,
                     "patch_size": 14, "vision_use_head": False})  # fmt: skip
    assert largest(model) == TowerInput("image", 3 * 896**2, tokens=256, patches=64**2, hidden=32)


def test_mistral3_takes_1540_pixels_a_side_and_merges_four_patches() -> None:
    model = model_of("mistral3", text_config={**TEXT, "model_type": "mistral"},
                     vision_config={**TOWER, "image_size": 1540, "patch_size": 14})  # fmt: skip
    assert largest(model) == TowerInput(
        "image", 3 * 1540**2, tokens=55**2, patches=110**2, hidden=32
    )


def test_llava_drops_the_class_token_of_336_pixels() -> None:
    model = model_of("llava", text_config={**TEXT, "model_type": "llama"},
                     vision_config={**TOWER, "image_size": 336, "patch_size": 14})  # fmt: skip
    assert (largest(model).tokens, largest(model).patches) == (576, 577)


@pytest.mark.parametrize(
    ("model_type", "vision", "tokens", "pixels"),
    [
        ("qwen2_5_vl", {"patch_size": 14, "out_hidden_size": 64}, 16384, 12_845_056),
        ("qwen3_vl", {"patch_size": 16, "out_hidden_size": 64}, 16384, 16_777_216),
    ],
)
def test_qwen_takes_as_many_pixels_as_its_preprocessor_allows(
    model_type: str, vision: dict[str, int], tokens: int, pixels: int
) -> None:
    vision = {**vision, "depth": 1, "hidden_size": 32, "num_heads": 2, "intermediate_size": 48}
    model = model_of(model_type, text_config=TEXT, vision_config=vision)
    assert largest(model).tokens == tokens
    assert largest(model).patches == 4 * tokens
    assert largest(model).pixels == 3 * pixels * 2  # a still image is repeated to two frames


def test_llama4_takes_sixteen_tiles_and_a_thumbnail() -> None:
    model = model_of("llama4", text_config=TEXT, vision_config={
        **TOWER, "image_size": 336, "patch_size": 14, "vision_output_dim": 64})  # fmt: skip
    assert largest(model).tokens == 17 * 144
    assert largest(model).patches == 17 * 577


def test_voxtral_joins_four_positions_of_thirty_seconds() -> None:
    model = model_of("voxtral", text_config=TEXT, audio_config={**TOWER, "num_mel_bins": 128})
    assert largest(model) == TowerInput("audio", 128 * 3000, tokens=375, patches=1500, hidden=32)


def test_voxtral_fills_a_sparse_text_section_with_the_values_of_its_class() -> None:
    model = model_of("voxtral", text_config={"model_type": "llama"}, audio_config=TOWER)
    text = model.text
    assert (text.hidden, text.layers, text.kv_heads, text.vocab) == (3072, 30, 8, 131072)


def heads_of(model_type: str, **keys: object) -> int:
    model = model_of(model_type, **keys)
    return len([t for t in model.tensors if t.role is Role.HEAD])


@pytest.mark.parametrize(
    ("model_type", "outer", "inner", "stored"),
    [
        ("gemma3", None, None, 0),
        ("gemma3", False, True, 1),
        ("llava", None, None, 1),
        ("llava", None, True, 0),
        ("llava", False, True, 0),
        ("mistral3", None, None, 1),
        ("mistral3", None, True, 0),
        ("mistral3", False, True, 1),
        ("qwen3_vl", None, True, 1),
        ("qwen3_vl", True, None, 0),
        ("lfm2_vl", None, None, 0),
    ],
)
def test_each_class_has_its_own_rule_for_tying_the_head(
    *,
    model_type: str,
    outer: bool | None,
    inner: bool | None,
    stored: int,
) -> None:
    text: dict[str, object] = dict(TEXT)
    if inner is not None:
        text["tie_word_embeddings"] = inner
    keys: dict[str, object] = {"text_config": text}
    if outer is not None:
        keys["tie_word_embeddings"] = outer
    assert heads_of(model_type, **keys) == stored


def test_gemma3n_reads_the_cache_of_the_last_layer_of_its_kind_that_keeps_one() -> None:
    model = model_of("gemma3n_text", **{**TEXT, "num_hidden_layers": 10}, num_kv_shared_layers=4,
                     sliding_window=32, max_position_embeddings=4096)  # fmt: skip
    specs = [c.spec for c in model.cache_layers]
    assert specs[4] == FullAttention(2, 16, 16)
    assert specs[5] == SlidingAttention(2, 16, 16, 32)
    assert specs[6:] == [SharedWith(5), SharedWith(5), SharedWith(5), SharedWith(4)]
    keys = tensors_named(model, "k_proj.weight")
    assert [t.layer for t in keys] == [0, 1, 2, 3, 4, 5]


def test_sharing_is_refused_where_no_layer_of_the_kind_keeps_a_cache() -> None:
    with pytest.raises(BadInput) as refusal:
        model_of("gemma3n_text", **{**TEXT, "num_hidden_layers": 5}, num_kv_shared_layers=4)
    assert str(refusal.value) == (
        "config.json: 'num_kv_shared_layers' (4) leaves no full_attention layer with a cache to "
        "share; lower it."
    )


def test_gemma4_widens_the_heads_of_full_layers_and_may_reuse_keys_as_values() -> None:
    keys = {**TEXT, "num_hidden_layers": 6, "global_head_dim": 32, "num_global_key_value_heads": 1,
            "sliding_window": 64, "hidden_size_per_layer_input": 0,
            "max_position_embeddings": 4096}  # fmt: skip
    plain = model_of("gemma4_text", **keys)
    assert plain.cache_layers[5].spec == FullAttention(2, 32, 32)
    assert len(tensors_named(plain, "v_proj.weight")) == 6
    reused = model_of("gemma4_text", **keys, attention_k_eq_v=True)
    assert reused.cache_layers[5].spec == FullAttention(1, 32, 32)
    assert len(tensors_named(reused, "v_proj.weight")) == 5


def test_gemma4_forces_its_last_layer_to_be_full() -> None:
    model = model_of("gemma4_text", **TEXT, layer_types=["full_attention", "sliding_attention"])
    assert [type(c.spec) for c in model.cache_layers] == [FullAttention, FullAttention]


def test_a_section_that_is_null_stands_for_an_encoder_that_is_not_there() -> None:
    model = model_of("gemma4", text_config=TEXT, vision_config=None, audio_config=None)
    assert model.towers == ()
    assert not [t for t in model.tensors if t.role in {Role.VISION, Role.AUDIO, Role.PROJECTOR}]


def test_a_tower_that_is_only_named_has_published_sizes() -> None:
    text = {**TEXT, "num_hidden_layers": 10, "num_kv_shared_layers": 0}
    model = model_of("gemma3n", text_config=text, vision_config={}, audio_config={})
    assert model.params_of(Role.VISION) == 294_126_912
    assert [tower.modality for tower in model.towers] == ["image", "audio"]


def test_a_named_tower_without_published_sizes_is_refused() -> None:
    text = {**TEXT, "num_hidden_layers": 10, "num_kv_shared_layers": 0}
    with pytest.raises(UnknownName) as refusal:
        model_of("gemma3n", text_config=text, vision_config={"architecture": "mobilenetv5_base"})
    assert str(refusal.value) == (
        "Unknown vision tower 'mobilenetv5_base' in config.json, 'vision_config', 'architecture'; "
        "the nearest known one is mobilenetv5_300m_enc."
    )


def test_a_tower_of_unequal_sides_is_refused() -> None:
    with pytest.raises(BadInput) as refusal:
        model_of("gemma3", text_config=TEXT, vision_config={**TOWER, "image_size": [896, 448]})
    assert str(refusal.value) == (
        "config.json, 'vision_config': 'image_size' is [896, 448]; only squares are known, give "
        "one length."
    )


def test_a_tower_whose_heads_do_not_divide_its_width_is_refused() -> None:
    with pytest.raises(BadInput) as refusal:
        model_of("llava", text_config={**TEXT, "model_type": "llama"},
                 vision_config={**TOWER, "num_attention_heads": 3})  # fmt: skip
    assert str(refusal.value) == (
        "A vision tower of width 32 cannot have 3 heads; correct its 'hidden_size' or its number "
        "of heads."
    )


def test_the_text_part_may_be_any_known_language_model() -> None:
    model = model_of("llava", text_config={**TEXT, "model_type": "qwen3"}, vision_config=TOWER)
    assert tensors_named(model, "q_norm.weight")
    with pytest.raises(UnknownName) as refusal:
        model_of("llava", text_config={**TEXT, "model_type": "qwen33"}, vision_config=TOWER)
    assert str(refusal.value).startswith(
        "Unknown model_type 'qwen33' in config.json, 'text_config', 'model_type'"
    )


def test_a_flat_file_must_state_the_dimensions_of_its_text() -> None:
    with pytest.raises(BadInput) as refusal:
        model_of("qwen2_5_vl", vision_config={"depth": 1})
    assert str(refusal.value) == (
        "config.json has no 'hidden_size', which this architecture needs; add it."
    )


def test_phi3_vision_knows_the_encoder_it_names() -> None:
    keys = {k: v for k, v in TEXT.items() if k != "head_dim"}
    model = model_of("phi3_v", **keys, img_processor={
        "model_name": "openai/clip-vit-large-patch14-336", "image_dim_out": 1024})  # fmt: skip
    assert model.params_of(Role.VISION) == 303_507_456
    assert largest(model).tokens == 2509


def test_published_sizes_of_classes_that_build_no_reference_count() -> None:
    """Phi-3.5-vision is published with 4.15 billion parameters, Kimi-VL-A3B with 16.4."""
    phi = model_of("phi3_v", hidden_size=3072, num_hidden_layers=32, num_attention_heads=32,
                   num_key_value_heads=32, intermediate_size=8192, vocab_size=32064)  # fmt: skip
    assert round(phi.params_total / 1e9, 2) == 4.15
    kimi = model_of("kimi_vl", text_config={
        "model_type": "deepseek_v3", "hidden_size": 2048, "num_hidden_layers": 27,
        "num_attention_heads": 16, "num_key_value_heads": 16, "intermediate_size": 11264,
        "moe_intermediate_size": 1408, "n_routed_experts": 64, "n_shared_experts": 2,
        "num_experts_per_tok": 6, "first_k_dense_replace": 1, "q_lora_rank": None,
        "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "vocab_size": 163840})  # fmt: skip
    assert round(kimi.params_total / 1e9, 1) == 16.4


def test_a_patch_larger_than_the_image_is_refused() -> None:
    with pytest.raises(BadInput) as refusal:
        model_of("gemma3", text_config=TEXT, vision_config={**TOWER, "image_size": 8})
    assert str(refusal.value) == (
        "config.json, 'vision_config': a patch of 16 pixels does not fit into an image of 8; "
        "correct 'patch_size' or 'image_size'."
    )


@pytest.mark.parametrize("ratio", [0, 0.4, -0.5, 1e-9])
def test_a_shuffle_that_joins_no_whole_number_of_patches_is_refused(ratio: float) -> None:
    with pytest.raises(BadInput) as refusal:
        model_of("internvl", text_config=TEXT, vision_config=TOWER, downsample_ratio=ratio)
    assert str(refusal.value) == (
        f"config.json: 'downsample_ratio' is {float(ratio)}; it must be one over a whole number, "
        "such as 0.5."
    )


def test_streams_beyond_reason_are_refused_before_they_are_enumerated() -> None:
    with pytest.raises(BadInput) as refusal:
        model_of("gemma3n_text", **TEXT, num_kv_shared_layers=0, altup_num_inputs=10**9)
    assert str(refusal.value) == (
        "config.json: 'altup_num_inputs' is 1000000000; it must be a whole number from 1 to 64."
    )
