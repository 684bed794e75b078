"""Runs inside vLLM's environment with `gguf` on its path: a llama model's GGUF as a folder that vLLM serves, in bf16.

    hf_from_gguf.py MODEL.gguf FOLDER BITS GROUP

BITS 16 rounds nothing. 8 with GROUP 0 writes int8 weights for vLLM's own int8 kernels (compressed-tensors, a scale for each row, activations
in int8 too). Otherwise weights are rounded as by `quantize_gguf` and stored in bf16: what differs is the rounding alone.
"""

import json
import sys
from pathlib import Path
from typing import Any

import torch
from gguf import GGUFReader
from gguf.quants import dequantize
from quantize_gguf import rounded
from safetensors.torch import save_file
from transformers import AutoTokenizer

_LAYER = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
_WHOLE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}
_INT8 = {
    "quant_method": "compressed-tensors",
    "format": "int-quantized",
    "quantization_status": "compressed",
    "ignore": ["lm_head"],
    "config_groups": {
        "group_0": {
            "targets": ["Linear"],
            "weights": {"num_bits": 8, "type": "int", "symmetric": True, "strategy": "channel", "dynamic": False},
            "input_activations": {"num_bits": 8, "type": "int", "symmetric": True, "strategy": "token", "dynamic": True},
        }
    },
}  # fmt: skip


def name_of(name: str) -> str:
    """A tensor's name in the other format."""
    stem = name.removesuffix(".weight")
    if not stem.startswith("blk."):
        return f"{_WHOLE[stem]}.weight"
    _, number, part = stem.split(".")
    return f"model.layers.{number}.{_LAYER[part]}.weight"


def unpermuted(weights: Any, heads: int) -> Any:
    """llama.cpp keeps the halves of each head's rotated pairs side by side; others keep them apart."""
    rows, columns = weights.shape
    return (
        weights.reshape(heads, rows // heads // 2, 2, columns).swapaxes(1, 2).reshape(rows, columns)
    )


def config_of(field: Any, ends: tuple[int, int], *, tied: bool, int8: bool) -> dict[str, Any]:
    """config.json of a llama model; `field` gives what the GGUF says, `ends` the first and the last token of a text."""
    bos, eos = ends
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "hidden_size": field("embedding_length"),
        "intermediate_size": field("feed_forward_length"),
        "num_hidden_layers": field("block_count"),
        "num_attention_heads": field("attention.head_count"),
        "num_key_value_heads": field("attention.head_count_kv"),
        "rms_norm_eps": field("attention.layer_norm_rms_epsilon"),
        "rope_theta": field("rope.freq_base"),
        "max_position_embeddings": field("context_length"),
        "vocab_size": field("vocab_size"),
        "bos_token_id": bos,
        "eos_token_id": eos,
        "tie_word_embeddings": tied,
        "torch_dtype": "bfloat16",
        **({"quantization_config": _INT8} if int8 else {}),
    }


def tensors_of(reader: Any, field: Any, bits: int, group: int) -> dict[str, torch.Tensor]:
    """Every tensor under its new name."""
    heads = {"attn_q": field("attention.head_count"), "attn_k": field("attention.head_count_kv")}
    found: dict[str, torch.Tensor] = {}
    for tensor in reader.tensors:
        weights, name = dequantize(tensor.data, tensor.tensor_type), name_of(tensor.name)
        part = tensor.name.split(".")[-2]
        if part in heads:
            weights = unpermuted(weights, heads[part])
        is_matrix = weights.ndim == 2 and tensor.name.startswith("blk.")
        if is_matrix and (bits, group) == (8, 0):
            scale = abs(weights).max(axis=1, keepdims=True).clip(1e-8) / 127
            found[name] = torch.from_numpy((weights / scale).round().astype("int8"))
            found[f"{name}_scale"] = torch.from_numpy(scale).to(torch.bfloat16)
            continue
        if is_matrix and bits < 16:
            weights = rounded(weights, bits, group)
        found[name] = torch.from_numpy(weights.copy()).to(torch.bfloat16)
    return found


def main(source: str, out: str, bits: int, group: int) -> None:
    """Write the folder."""
    reader, folder = GGUFReader(source), Path(out)
    prefix = f"{reader.fields['general.architecture'].contents()}."

    def field(name: str) -> Any:
        return reader.fields[prefix + name].contents()

    folder.mkdir(parents=True)
    tensors = tensors_of(reader, field, bits, group)
    tied = "lm_head.weight" not in tensors
    bos, eos = (
        reader.fields[f"tokenizer.ggml.{name}_token_id"].contents() for name in ("bos", "eos")
    )
    config = config_of(field, (bos, eos), tied=tied, int8=(bits, group) == (8, 0))
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    place = Path(source)
    AutoTokenizer.from_pretrained(str(place.parent), gguf_file=place.name).save_pretrained(out)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
