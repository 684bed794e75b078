"""safetensors and GGUF files, single, sharded and split."""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Any

from fuzz.driver import Target
from fuzz.mutation import damaged_bytes, damaged_tree, noise
from vramledger.engine.vllm.loaded import Loaded
from vramledger.model.files.gguf import read_gguf
from vramledger.model.inspection import inspect
from vramledger.model.load import load_model
from vramledger.report.model import to_json, to_text

NOT_LOADED = Loaded(None, "vLLM", "H100-80GB-SXM", ())
INDEX = "model.safetensors.index.json"
CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "torch_dtype": "bfloat16",
    "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
    "intermediate_size": 16, "vocab_size": 32, "max_position_embeddings": 64,
}  # fmt: skip
SHAPES = {
    "model.embed_tokens.weight": [32, 8], "model.layers.0.self_attn.q_proj.weight": [8, 8],
    "model.layers.0.mlp.up_proj.weight": [16, 8], "model.norm.weight": [8], "lm_head.weight": [32, 8],
    "model.layers.0.mlp.experts.1.w1.weight_packed": [8, 4], "model.layers.0.x.weight_scale": [],
}  # fmt: skip
DTYPES = ("BF16", "F16", "F32", "U8", "F4", "I32", "F8_E4M3", "Q9", "", "x")

Files = dict[str, bytes]


def header(random: Random) -> dict[str, Any]:
    """A sound header of some of the tensors, of random types."""
    found: dict[str, Any] = {"__metadata__": {"format": "pt"}} if random.randrange(2) else {}
    position = 0
    for name, shape in SHAPES.items():
        if random.randrange(4) == 0:
            continue
        dtype = random.choice(DTYPES[:4])
        size = {"F32": 4, "U8": 1}.get(dtype, 2)
        for length in shape:
            size *= length
        found[name] = {"dtype": dtype, "shape": shape, "data_offsets": [position, position + size]}
        position += size
    return found


def file_of(tree: Any, random: Random) -> bytes:
    text = json.dumps(tree).encode()
    if random.randrange(4) == 0:
        text = damaged_bytes(text, random)
    lies = [0, 1, 2, 7, 2**31, 2**63, 2**64 - 1, 100_000_001]
    length = len(text) if random.randrange(5) else random.choice([*lies, len(text) + 1])
    ends = (
        [e["data_offsets"][1] for e in tree.values() if "data_offsets" in e] if sound(tree) else []
    )
    data = bytes(max(ends, default=0) if random.randrange(5) else random.randrange(64))
    return struct.pack("<Q", length) + text + data


def sound(tree: Any) -> bool:
    """Whether sizes can be told, so that the data can be made to fit."""
    return isinstance(tree, dict) and all(
        isinstance(entry, dict)
        and isinstance(entry.get("data_offsets", [0, 0]), list)
        and len(entry.get("data_offsets", [0, 0])) == 2
        and type(entry.get("data_offsets", [0, 0])[1]) is int
        and 0 <= entry.get("data_offsets", [0, 0])[1] < 1 << 16
        for entry in tree.values()
    )


def make_safetensors(random: Random) -> Files:
    if random.randrange(10) == 0:
        return {"model.safetensors": noise(random)}
    tree = header(random)
    if random.randrange(3):
        tree = damaged_tree(tree, random)
    files = {"model.safetensors": file_of(tree, random)}
    if random.randrange(2):
        files["config.json"] = json.dumps(CONFIG).encode()
    return files


def make_sharded(random: Random) -> Files:
    files = {f"m-{n}.safetensors": file_of(header(random), random) for n in range(2)}
    names = [*files, "m-9.safetensors", "../x", "", ".", "/etc/passwd", "a\nb", "\0"]
    weight_map: Any = {name: random.choice(names[:3]) for name in SHAPES}
    index: Any = {"metadata": {"total_size": 1}, "weight_map": weight_map}
    if random.randrange(2):
        index = damaged_tree(index, random, names)
    text = json.dumps(index).encode()
    files[INDEX] = damaged_bytes(text, random) if random.randrange(4) == 0 else text
    if random.randrange(2):
        files["config.json"] = json.dumps(CONFIG).encode()
    return files


def read_folder(files: Mapping[str, bytes], folder: Path) -> None:
    for old in folder.iterdir():
        old.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    model = load_model(str(folder))
    report = to_json(inspect(model), NOT_LOADED)
    json.dumps(report, allow_nan=False)
    assert to_text(inspect(model), NOT_LOADED)


def gguf_text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def gguf_file(random: Random, *, split: int = 0) -> bytes:
    """A small sound file: an architecture, its sizes, arrays, tensors."""
    kind = random.choice(["llama", "qwen3moe", "deepseek2", "mamba", "gemma3", "unknown", "bert"])
    sizes = {
        "block_count": 2, "context_length": 64, "embedding_length": 8, "feed_forward_length": 16,
        "attention.head_count": 2, "attention.key_length": 4, "attention.value_length": 4,
        "expert_count": 2, "attention.sliding_window": 16, "ssm.state_size": 4, "ssm.inner_size": 8,
        "ssm.conv_kernel": 4, "attention.kv_lora_rank": 4, "rope.dimension_count": 2,
    }  # fmt: skip
    keys = [gguf_text("general.architecture") + struct.pack("<I", 8) + gguf_text(kind)]
    for key, value in sizes.items():
        keys.append(gguf_text(f"{kind}.{key}") + struct.pack("<II", 4, value))
    heads = gguf_text(f"{kind}.attention.head_count_kv")
    keys.append(heads + struct.pack("<IIQII", 9, 4, 2, 1, 2))
    words = b"".join(gguf_text(word) for word in ("a", "b"))
    keys.append(gguf_text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2) + words)
    keys.append(gguf_text("split.tensors.count") + struct.pack("<II", 5, 4 if split else 2))
    suffix = f".{split}" if split else ""
    infos = gguf_text(f"token_embd{suffix}.weight") + struct.pack("<IQQIQ", 2, 8, 4, 0, 0)
    infos += gguf_text(f"blk.{split}.attn_q.weight") + struct.pack("<IQQIQ", 2, 8, 8, 1, 128)
    body = b"".join(keys) + infos
    content = b"GGUF" + struct.pack("<IQQ", 3, 2, len(keys)) + body
    return content + bytes(-len(content) % 32) + bytes(256)


def make_gguf(random: Random) -> Files:
    if random.randrange(10) == 0:
        return {"model.gguf": b"GGUF" + noise(random)}
    if random.randrange(4):
        return {"model.gguf": damaged_bytes(gguf_file(random), random, 3)}
    names = [f"m-0000{n}-of-00002.gguf" for n in (1, 2)]
    files = {name: gguf_file(random, split=n) for n, name in enumerate(names, 1)}
    name = random.choice(names)
    files[name] = damaged_bytes(files[name], random)
    if random.randrange(8) == 0:
        del files[random.choice(names)]
    return files


def read_gguf_folder(files: Mapping[str, bytes], folder: Path) -> None:
    for old in folder.iterdir():
        old.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    path = str(folder / next(iter(files)))
    inspection = inspect(load_model(path))
    json.dumps(to_json(inspection, NOT_LOADED), allow_nan=False)
    assert to_text(inspection, NOT_LOADED)
    assert read_gguf(Path(path)).weights.nbytes >= 0


TARGETS = (
    Target("safetensors", 10_000, make_safetensors, read_folder),
    Target("sharded", 5_000, make_sharded, read_folder),
    Target("gguf", 12_000, make_gguf, read_gguf_folder),
)
