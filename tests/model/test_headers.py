"""Headers beside a configuration: exact bytes, and what they disagree about."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from vramledger.evidence import Basis
from vramledger.model.checkpoint import Checkpoint, assemble
from vramledger.model.config import Config
from vramledger.model.files.stored import StoredTensor, StoredWeights
from vramledger.model.headers import apply_headers, canonical
from vramledger.model.load import load_model
from vramledger.model.tensor import Role

CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "float16",
    "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 128, "vocab_size": 256, "tie_word_embeddings": True,
}  # fmt: skip
LAYER = {
    "self_attn.q_proj": (64, 64), "self_attn.k_proj": (32, 64), "self_attn.v_proj": (32, 64),
    "self_attn.o_proj": (64, 64), "mlp.gate_proj": (128, 64), "mlp.up_proj": (128, 64),
    "mlp.down_proj": (64, 128), "input_layernorm": (64,), "post_attention_layernorm": (64,),
}  # fmt: skip


def arrays(dtype: type = np.float16) -> dict[str, np.ndarray[Any, Any]]:
    """The weights that `CONFIG` describes."""
    shapes: dict[str, tuple[int, ...]] = {
        f"model.layers.{i}.{name}.weight": shape for i in range(2) for name, shape in LAYER.items()
    }
    shapes |= {"model.embed_tokens.weight": (256, 64), "model.norm.weight": (64,)}
    return {name: np.zeros(shape, dtype) for name, shape in shapes.items()}


def checkpoint(folder: Path, weights: dict[str, np.ndarray[Any, Any]], **config: Any) -> str:
    (folder / "config.json").write_text(json.dumps({**CONFIG, **config}))
    save_file(weights, folder / "model.safetensors")
    return str(folder)


def test_headers_that_agree_make_the_bytes_exact_and_say_nothing(tmp_path: Path) -> None:
    model = load_model(checkpoint(tmp_path, arrays()))
    assert model.weights_basis is Basis.EXACT
    assert model.weights_bytes == model.header_bytes == 2 * model.params_total
    assert model.notes == ()


def test_files_in_another_float_type_are_said_and_the_engine_casts_them(tmp_path: Path) -> None:
    model = load_model(checkpoint(tmp_path, arrays(np.float32)))
    assert model.weights_bytes == 4 * model.params_total
    assert sum(t.nbytes(model.dtype) for t in model.tensors) == 2 * model.params_total
    (note,) = model.notes
    assert note == (
        "20 tensor(s) take other bytes in the files than the configuration implies; the first is "
        "'embed_tokens.weight': 65536 stored (F32), 32768 implied."
    )


def test_packed_weights_that_no_section_announces_take_their_stored_bytes(tmp_path: Path) -> None:
    weights = arrays()
    name = "model.layers.0.mlp.down_proj"
    del weights[f"{name}.weight"]
    weights[f"{name}.qweight"] = np.zeros((16, 64), np.int32)
    weights[f"{name}.scales"] = np.zeros((1, 64), np.float16)
    model = load_model(checkpoint(tmp_path, weights))
    (packed,) = [t for t in model.tensors if t.name == f"{name}.weight"]
    assert packed.nbytes(model.dtype) == 16 * 64 * 4 + 64 * 2
    assert packed.encoding is not None
    assert packed.encoding.name == "F16+I32"
    assert sum(t.nbytes(model.dtype) for t in model.tensors) == model.weights_bytes


def test_a_quantised_checkpoint_agrees_with_its_section(tmp_path: Path) -> None:
    weights = arrays()
    for name in [n for n in weights if "proj" in n]:
        out, width = weights.pop(name).shape
        base = name.removesuffix(".weight")
        weights[f"{base}.qweight"] = np.zeros((width // 8, out), np.int32)
        weights[f"{base}.qzeros"] = np.zeros((width // 64, out // 8), np.int32)
        weights[f"{base}.scales"] = np.zeros((width // 64, out), np.float16)
        weights[f"{base}.g_idx"] = np.zeros((width,), np.int32)
    section = {"quant_method": "gptq", "bits": 4, "group_size": 64, "desc_act": False, "sym": True}
    model = load_model(checkpoint(tmp_path, weights, quantization_config=section))
    assert model.notes == ()
    assert sum(t.nbytes(model.dtype) for t in model.tensors) == model.weights_bytes


def test_what_the_files_lack_and_hold_beyond_the_configuration_is_said(tmp_path: Path) -> None:
    weights = arrays()
    del weights["model.norm.weight"]
    weights["lm_head.weight"] = np.zeros((256, 64), np.float16)
    model = load_model(checkpoint(tmp_path, weights))
    lacking, beyond = model.notes
    assert lacking == (
        "The configuration implies 1 tensor(s) that are not in the files (128 B); the first is "
        "'norm.weight'."
    )
    assert beyond == (
        "The files hold 1 tensor(s) that the configuration does not imply (32 KiB); the first is "
        "'lm_head.weight'."
    )
    assert [(t.name, t.role) for t in model.extra_tensors] == [("lm_head.weight", Role.HEAD)]


def test_an_unknown_architecture_still_has_exact_weights(tmp_path: Path) -> None:
    model = load_model(checkpoint(tmp_path, arrays(), model_type="lama9"))
    assert model.weights_basis is Basis.EXACT
    assert model.params_total == sum(a.size for a in arrays().values())
    assert model.params_of(Role.ATTENTION) == 2 * (2 * 64 * 64 + 2 * 32 * 64)
    assert model.cache_unknown is not None
    assert model.cache_unknown.startswith(
        f"What {tmp_path} keeps in its cache cannot be told: Unknown model_type 'lama9'"
    )


def test_weights_without_a_configuration_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_file(arrays(), path)
    model = load_model(str(path))
    assert model.weights_bytes == 2 * model.params_total
    assert model.cache_unknown == (
        f"What {path} keeps in its cache cannot be told: there is no config.json beside the "
        "weights."
    )


def test_spellings_of_one_tensor_share_a_canonical_name() -> None:
    assert canonical("model.language_model.layers.3.mlp.experts.17.up_proj.weight_scale_inv") == (
        canonical("language_model.model.layers.3.mlp.experts.{e}.up_proj.weight")
    )
    assert canonical("transformer.h.0.attn.c_attn.qweight") == canonical("h.0.attn.c_attn.weight")
    assert canonical("a.experts.gate_up_proj_blocks") == canonical("a.experts.gate_up_proj_scales")
    assert canonical("a.q_proj.bias") != canonical("a.q_proj.weight")


def test_experts_stored_one_by_one_meet_a_configuration_that_fuses_them(tmp_path: Path) -> None:
    model = load_model("Qwen/Qwen3.5-35B-A3B")
    fused = "mlp.experts.gate_up_proj"
    assert any(t.name.endswith(fused) for t in model.tensors)
    stored = []
    for tensor in model.tensors:
        if tensor.copies == 1:
            stored.append(
                StoredTensor(tensor.name, "BF16", tensor.shape, tensor.nbytes(model.dtype))
            )
            continue
        each = tensor.nbytes(model.dtype) // tensor.copies
        for e in range(tensor.copies):
            name = tensor.name.replace(".experts.", f".experts.{e}.") + ".weight"
            stored.append(StoredTensor(name, "BF16", tensor.shape, each))
    merged: dict[str, StoredTensor] = {}
    for one in stored:  # pieces of one parameter are one entry of a header
        before = merged.get(one.name)
        nbytes = one.nbytes + (before.nbytes if before is not None else 0)
        merged[one.name] = StoredTensor(one.name, one.dtype, one.shape, nbytes)
    exact = apply_headers(model, StoredWeights(tuple(merged.values()), str(tmp_path)))
    assert exact.notes == model.notes
    assert exact.extra_tensors == model.extra_tensors
    assert exact.tensors == model.tensors


def fp8_blocks(base: str, out: int, width: int) -> list[StoredTensor]:
    scales = (-(-out // 128), -(-width // 128))
    return [
        StoredTensor(f"{base}.weight", "F8_E4M3", (out, width), out * width),
        StoredTensor(f"{base}.weight_scale_inv", "F32", scales, 4 * scales[0] * scales[1]),
    ]


def int8_channels(base: str, out: int, width: int) -> list[StoredTensor]:
    return [
        StoredTensor(f"{base}.weight", "I8", (out, width), out * width),
        StoredTensor(f"{base}.weight_scale", "F16", (out, 1), 2 * out),
    ]


def packed_int4(base: str, out: int, width: int) -> list[StoredTensor]:
    return [
        StoredTensor(f"{base}.weight_packed", "I32", (out, width // 8), out * width // 2),
        StoredTensor(f"{base}.weight_scale", "F16", (out, width // 32), out * width // 16),
        StoredTensor(f"{base}.weight_shape", "I64", (2,), 16),
    ]


def awq(base: str, out: int, width: int) -> list[StoredTensor]:
    return [
        StoredTensor(f"{base}.qweight", "I32", (width, out // 8), out * width // 2),
        StoredTensor(f"{base}.qzeros", "I32", (width // 32, out // 8), out * width // 64),
        StoredTensor(f"{base}.scales", "F16", (width // 32, out), out * width // 16),
    ]


def compressed(bits: int, strategy: str, form: str, **weights: Any) -> dict[str, Any]:
    group = {"num_bits": bits, "type": "int", "strategy": strategy, "symmetric": True, **weights}
    return {
        "quant_method": "compressed-tensors", "format": form, "ignore": ["lm_head"],
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": group}},
    }  # fmt: skip


LAYOUTS: dict[str, tuple[dict[str, Any], Callable[[str, int, int], list[StoredTensor]]]] = {
    "fp8 blocks": (
        {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]},
        fp8_blocks,
    ),
    "int8 channels": (compressed(8, "channel", "int-quantized"), int8_channels),
    "packed int4": (compressed(4, "group", "pack-quantized", group_size=32), packed_int4),
    "awq": ({"quant_method": "awq", "bits": 4, "group_size": 32, "zero_point": True}, awq),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_layout_of_each_quantised_format_agrees_with_its_section(layout: str) -> None:
    section, stored = LAYOUTS[layout]
    config = Config({**CONFIG, "quantization_config": section}, "config.json")
    model = assemble(Checkpoint("tiny", config))
    tensors: list[StoredTensor] = []
    for tensor in model.tensors:
        base = tensor.name.removesuffix(".weight")
        if "proj" in tensor.name:
            tensors += stored(base, *tensor.shape)
        else:
            tensors.append(StoredTensor(tensor.name, "F16", tensor.shape, 2 * tensor.elements))
    exact = apply_headers(model, StoredWeights(tuple(tensors), "model.safetensors"))
    assert exact.notes == model.notes
    assert exact.tensors == model.tensors
    assert exact.weights_bytes == sum(t.nbytes for t in tensors)


def test_an_unknown_quantisation_method_leaves_the_bytes_of_the_files(tmp_path: Path) -> None:
    section = {"quant_method": "nf9"}
    model = load_model(checkpoint(tmp_path, arrays(), quantization_config=section))
    assert model.weights_bytes == 2 * model.params_total
    (note,) = model.notes
    assert note.startswith("Unknown quantization method 'nf9'")
    assert note.endswith("Bytes are those of the files.")
