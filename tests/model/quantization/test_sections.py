"""Quantisation sections as published checkpoints write them."""

from typing import Any

import pytest

from vramledger.errors import BadInput, CannotKnow, UnknownName
from vramledger.model.architectures import build
from vramledger.model.config import Config
from vramledger.model.load import load_model
from vramledger.model.model import Model
from vramledger.model.quantization import METHODS, ONLINE_METHODS, quantize, requantize
from vramledger.model.quantization.encoding import Family, Flat, Tiled
from vramledger.model.tensor import Role

TINY: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 1024,
    "intermediate_size": 2048,
    "num_hidden_layers": 2,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "vocab_size": 1000,
    "torch_dtype": "bfloat16",
}
LINEAR = 2 * (2 * 1024 * 1024 + 2 * 512 * 1024 + 3 * 2048 * 1024)
PLAIN = (2 * 1000 * 1024 + 5 * 1024) * 2  # embedding, head, norms in two bytes


def with_section(section: dict[str, Any], key: str = "quantization_config", **more: Any) -> Model:
    config = Config({**TINY, key: section, **more}, "config.json")
    return quantize(build(config, "tiny"), config)


def encoded(model: Model) -> set[str]:
    """Names of modules with an encoding, without the layer's prefix."""
    return {t.name.split("layers.")[-1] for t in model.tensors if t.encoding is not None}


def groups(
    weights: dict[str, Any], inputs: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    group = {"targets": ["Linear"], "weights": weights, "input_activations": inputs}
    return {
        "quant_method": "compressed-tensors",
        "config_groups": {"group_0": group},
        "ignore": ["lm_head"],
        **more,
    }


def test_a_model_without_a_section_stays_as_it_is() -> None:
    config = Config(TINY, "config.json")
    model = build(config, "tiny")
    assert quantize(model, config) is model


def test_fp8_per_tensor_adds_a_scale_a_matrix_and_one_for_static_inputs() -> None:
    dynamic = with_section({"quant_method": "fp8", "activation_scheme": "dynamic"})
    static = with_section({"quant_method": "fp8", "activation_scheme": "static"})
    assert dynamic.weights_bytes == LINEAR + PLAIN + 14 * 4
    assert static.weights_bytes == LINEAR + PLAIN + 14 * 8


def test_fp8_blocks_are_recorded_and_scaled() -> None:
    model = with_section({"quant_method": "fp8", "weight_block_size": [128, 128]})
    assert model.quantization is not None
    assert model.quantization.block == (128, 128)
    assert model.quantization.activation_bits == 8
    assert model.weights_bytes == LINEAR + PLAIN + LINEAR // 128 // 128 * 4


def test_listed_modules_stay_whole_and_gate_is_not_gate_proj() -> None:
    model = with_section(
        {"quant_method": "fp8", "modules_to_not_convert": ["gate", "layers.0.mlp"]}
    )
    names = encoded(model)
    assert "1.mlp.gate_proj.weight" in names
    assert "0.mlp.gate_proj.weight" not in names
    assert "0.self_attn.q_proj.weight" in names


@pytest.mark.parametrize(
    "pattern",
    ["model.layers.*.self_attn", "re:.*self_attn.*", "language_model.model.layers.*.self_attn*"],
)
def test_globs_and_expressions_leave_out_what_they_cover(pattern: str) -> None:
    model = with_section({"quant_method": "fp8", "modules_to_not_convert": [pattern]})
    assert not any("self_attn" in name for name in encoded(model))
    assert any("mlp" in name for name in encoded(model))


def test_compressed_tensors_int4_packs_groups() -> None:
    model = with_section(
        groups({"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128})
    )
    assert model.weights_bytes == LINEAR // 2 + LINEAR // 128 * 2 + 14 * 16 + PLAIN


def test_compressed_tensors_names_go_before_classes() -> None:
    section = groups({"num_bits": 8, "type": "int", "strategy": "channel"}, {"num_bits": 8})
    section["config_groups"]["group_1"] = {
        "targets": ["re:.*down_proj.*"],
        "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128},
    }
    model = with_section(section)
    families = {t.name: t.encoding.family for t in model.tensors if isinstance(t.encoding, Tiled)}
    assert families["model.layers.0.mlp.down_proj.weight"] is Family.PACKED_INT
    assert families["model.layers.0.mlp.up_proj.weight"] is Family.INT8


@pytest.mark.parametrize(
    ("weights", "family"),
    [
        ({"num_bits": 8, "type": "float", "strategy": "channel"}, Family.FP8),
        ({"num_bits": 8, "type": "float", "strategy": "tensor"}, Family.FP8),
        (
            {"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [128, 128]},
            Family.FP8,
        ),
        (
            {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16},
            Family.NVFP4,
        ),
        ({"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32}, Family.MXFP4),
    ],
)
def test_compressed_tensors_floats_map_to_their_families(
    weights: dict[str, Any], family: Family
) -> None:
    model = with_section(groups(weights))
    found = {t.encoding.family for t in model.tensors if isinstance(t.encoding, Tiled)}
    assert found == {family}


@pytest.mark.parametrize(
    ("section", "kv_dtype"),
    [
        (groups({"num_bits": 8, "type": "float", "strategy": "tensor"},
                kv_cache_scheme={"num_bits": 8, "type": "float"}), "fp8"),
        ({"quant_method": "modelopt", "quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}, "fp8"),
        ({"producer": {"name": "modelopt"},
          "quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "NVFP4"}}, "nvfp4"),
        ({"quant_method": "awq"}, None),
    ],
)  # fmt: skip
def test_the_cache_type_a_checkpoint_declares_is_kept(
    section: dict[str, Any], kv_dtype: str | None
) -> None:
    model = with_section(section)
    assert model.quantization is not None
    assert model.quantization.kv_dtype == kv_dtype


def test_modelopt_mixed_precision_follows_each_module() -> None:
    section = {
        "quant_method": "modelopt",
        "quant_algo": "MIXED_PRECISION",
        "quantized_layers": {
            "model.layers.0.mlp.up_proj": {"quant_algo": "FP8"},
            "model.layers.1.mlp": {"quant_algo": "NVFP4", "group_size": 16},
        },
    }
    model = with_section(section)
    assert encoded(model) == {
        "0.mlp.up_proj.weight",
        "1.mlp.gate_proj.weight",
        "1.mlp.up_proj.weight",
        "1.mlp.down_proj.weight",
    }


def test_gptq_may_cover_the_head_and_leave_modules_out() -> None:
    section = {
        "quant_method": "gptq",
        "bits": 4,
        "group_size": 128,
        "lm_head": True,
        "dynamic": {"-:.*q_proj.*": {}},
    }
    names = encoded(with_section(section))
    assert "lm_head.weight" in names
    assert not any("q_proj" in name for name in names)


def test_bitsandbytes_eight_bits_shrink_activations_and_four_do_not() -> None:
    eight = with_section({"quant_method": "bitsandbytes", "load_in_8bit": True})
    four = with_section({"quant_method": "bitsandbytes", "load_in_4bit": True})
    assert eight.quantization is not None
    assert four.quantization is not None
    assert (eight.quantization.activation_bits, four.quantization.activation_bits) == (8, 16)
    assert all(isinstance(t.encoding, Flat) for t in four.tensors if t.encoding is not None)


def test_an_older_key_and_a_text_part_are_found() -> None:
    section = {"quant_method": "fp8"}
    assert with_section(section, key="compression_config").quantization is not None
    wrapped = Config({"text_config": {"quantization_config": section}}, "config.json")
    assert quantize(build(Config(TINY, "config.json"), "tiny"), wrapped).quantization is not None


def test_an_unknown_method_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName) as refusal:
        with_section({"quant_method": "gptqq"})
    assert str(refusal.value) == (
        "Unknown quantization method 'gptqq' in config.json, 'quantization_config', 'quant_method'; "
        "the nearest known one is gptq. "
        "Weights in a format we do not know can be read from file headers."
    )


@pytest.mark.parametrize(
    ("section", "message"),
    [
        ({"quant_method": "gptq", "bits": 5},
         "config.json, 'quantization_config': 'bits' is 5; GPTQ stores 2, 3, 4 or 8 bits."),
        ({"quant_method": "fp8", "weight_block_size": [128]},
         ("config.json, 'quantization_config': 'weight_block_size' has 1 numbers; "
          "it must be two, outputs and inputs.")),
        ({"quant_method": "compressed-tensors"},
         "config.json, 'quantization_config' has no 'config_groups', which say what is quantised."),
        ({"quant_method": "fp8", "modules_to_not_convert": ["re:("]},
         ("config.json, 'quantization_config': '(' is not a regular expression (missing ), "
          "unterminated subpattern at position 0); correct the pattern.")),
    ],
)  # fmt: skip
def test_unusable_sections_are_refused_in_one_sentence(
    section: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput) as refusal:
        with_section(section)
    assert str(refusal.value) == message


def test_overrides_of_single_modules_are_not_guessed() -> None:
    with pytest.raises(CannotKnow, match="only the headers of the weight files tell"):
        with_section({"quant_method": "auto-round", "extra_config": {"lm_head": {"bits": 8}}})


@pytest.mark.parametrize("method", ONLINE_METHODS)
def test_every_online_method_has_a_scheme(method: str) -> None:
    model = requantize(build(Config(TINY, "config.json"), "tiny"), method)
    assert model.quantization is not None


def test_every_method_of_the_table_can_be_read() -> None:
    minimal = {
        "compressed-tensors": groups({"num_bits": 8, "type": "int", "strategy": "channel"}),
        "compressed_tensors": groups({"num_bits": 8, "type": "int", "strategy": "channel"}),
        "quark": {"global_quant_config": {"weight": {"dtype": "fp8_e4m3"}}},
    }
    for method in METHODS:
        section = {"quant_algo": "NVFP4", **minimal.get(method, {}), "quant_method": method}
        assert with_section(section).quantization is not None, method


def test_online_bitsandbytes_covers_linear_layers_only() -> None:
    model = requantize(build(Config(TINY, "config.json"), "tiny"), "bitsandbytes")
    assert all(t.linear for t in model.tensors if t.encoding is not None)
    assert {t.name for t in model.tensors if t.encoding is None and t.linear} == {"lm_head.weight"}


def test_an_unknown_online_method_is_refused() -> None:
    with pytest.raises(UnknownName, match="method of quantising while loading 'int2'"):
        requantize(build(Config(TINY, "config.json"), "tiny"), "int2")


def test_towers_stay_whole_unless_the_engine_quantises_everything() -> None:
    model = load_model("mistralai/Mistral-Small-3.1-24B-Instruct-2503")
    section = {"quantization_config": {"quant_method": "fp8"}}
    stored = quantize(model, Config(section, "config.json"))
    on_the_way = requantize(model, "fp8")
    assert not any(t.encoding for t in stored.tensors if t.role is Role.VISION)
    assert any(t.encoding for t in on_the_way.tensors if t.role is Role.VISION)
