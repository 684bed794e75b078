"""GGUF checkpoints as models: caches by architecture, exact bytes, refusals by name."""

from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from vramledger.errors import BadInput
from vramledger.evidence import Basis
from vramledger.model import figures
from vramledger.model.cache import SharedWith, StateKind
from vramledger.model.dtype import DType
from vramledger.model.load import load_model
from vramledger.model.model import Model, ModelKind
from vramledger.model.tensor import Role

BASE: dict[str, Any] = {
    "block_count": 4, "context_length": 4096, "embedding_length": 64, "feed_forward_length": 128,
    "attention.head_count": 4, "attention.head_count_kv": 2,
}  # fmt: skip


def build(folder: Path, architecture: str, names: dict[str, tuple[int, ...]] | None = None,
          **keys: Any) -> Model:  # fmt: skip
    """A model from a file with these metadata keys (dots written as double underscores)."""
    path = folder / "m.gguf"
    writer = gguf.GGUFWriter(path, architecture)
    values = BASE | {key.replace("__", "."): value for key, value in keys.items()}
    for key, value in values.items():
        add = writer.add_array if isinstance(value, list) else writer.add_uint32
        if value is not None:
            add(f"{architecture}.{key}", value)
    for name, shape in {"token_embd.weight": (256, 64), **(names or {})}.items():
        writer.add_tensor(name, np.zeros(shape, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return load_model(str(path))


def test_grouped_query_attention(tmp_path: Path) -> None:
    model = build(tmp_path, "llama")
    assert figures.full_bytes_per_token(model) == 4 * 2 * 2 * 16 * 2
    assert (model.text.vocab, model.text.head_dim, model.tied_embeddings) == (256, 16, True)
    assert model.weights_basis is Basis.EXACT


def test_explicit_key_and_value_widths_and_kv_heads_by_layer(tmp_path: Path) -> None:
    model = build(
        tmp_path, "deci", attention__head_count_kv=[2, 0, 1, 2],
        attention__key_length=32, attention__value_length=24,
    )  # fmt: skip
    assert figures.full_bytes_per_token(model) == 5 * (32 + 24) * 2
    assert [layer.layer for layer in model.cache_layers] == [0, 2, 3]


@pytest.mark.parametrize(
    ("architecture", "full"),
    [("gemma2", [1, 3]), ("gemma3", [5]), ("cohere2", [3, 7]), ("gpt-oss", [1, 3, 5, 7])],
)
def test_interleaved_windows_follow_the_architecture(
    tmp_path: Path, architecture: str, full: list[int]
) -> None:
    layers = 4 if architecture == "gemma2" else 8
    model = build(tmp_path, architecture, block_count=layers, attention__sliding_window=512)
    assert figures.window(model) == 512
    assert figures.full_bytes_per_token(model) == len(full) * 128
    assert figures.window_bytes_per_token(model) == (layers - len(full)) * 128


def test_a_pattern_in_the_file_goes_before_the_architecture_s(tmp_path: Path) -> None:
    model = build(
        tmp_path, "gemma3n", attention__sliding_window=512,
        attention__sliding_window_pattern=[True, False, True, False],
        attention__shared_kv_layers=2,
    )  # fmt: skip
    assert figures.window_bytes_per_token(model) == 128
    assert [layer.spec for layer in model.cache_layers][2:] == [SharedWith(0), SharedWith(1)]


def test_latent_attention_keeps_rank_and_rope(tmp_path: Path) -> None:
    model = build(
        tmp_path, "deepseek2", attention__kv_lora_rank=512, rope__dimension_count=64,
        expert_count=8, expert_used_count=2, expert_feed_forward_length=32, expert_shared_count=1,
        names={"blk.1.ffn_up_exps.weight": (8, 32, 64)},
    )  # fmt: skip
    assert figures.full_bytes_per_token(model) == 4 * 576 * 2
    assert model.text.experts is not None
    assert (model.text.experts.count, model.text.experts.layers) == (8, 1)
    assert model.params_total - model.params_active == 6 * 32 * 64


def test_states_of_mamba_and_hybrids(tmp_path: Path) -> None:
    state: dict[str, Any] = {"ssm__conv_kernel": 4, "ssm__inner_size": 128, "ssm__state_size": 16,
             "ssm__time_step_rank": 8, "ssm__group_count": 2}  # fmt: skip
    model = build(tmp_path, "mamba", attention__head_count=0, attention__head_count_kv=0, **state)
    assert figures.state_bytes_per_sequence(model) == 4 * (128 * 3 + 128 * 16) * 2
    hybrid = build(tmp_path, "granitehybrid", attention__head_count_kv=[0, 0, 2, 0], **state)
    assert figures.full_bytes_per_token(hybrid) == 128
    expected = 3 * ((128 + 2 * 2 * 16) * 3 * 2 + 128 * 16 * 4)
    assert figures.state_bytes_per_sequence(hybrid, DType.FLOAT32) == expected
    delta = build(tmp_path, "qwen3next", full_attention_interval=4, **state)
    kinds = [getattr(layer.spec, "kind", None) for layer in delta.cache_layers]
    assert kinds == [StateKind.GATED_DELTA] * 3 + [None]


def test_layers_that_only_predict_further_tokens_are_apart(tmp_path: Path) -> None:
    model = build(
        tmp_path, "glm4moe", block_count=5, nextn_predict_layers=1,
        names={"blk.4.attn_q.weight": (64, 64)},
    )  # fmt: skip
    assert len(model.cache_layers) == 4
    assert [t.name for t in model.extra_tensors] == ["blk.4.attn_q.weight"]


def test_an_encoder_keeps_nothing(tmp_path: Path) -> None:
    model = build(tmp_path, "bert", attention__head_count_kv=None)
    assert (model.kind, model.cache_layers, model.cache_unknown) == (ModelKind.ENCODER, (), None)


def test_an_unknown_architecture_has_weights_and_no_cache(tmp_path: Path) -> None:
    model = build(tmp_path, "rwkv9")
    assert model.params_of(Role.EMBEDDING) == 256 * 64
    assert model.cache_unknown is not None
    assert model.cache_unknown.startswith(
        f"What {tmp_path / 'm.gguf'} keeps in its cache cannot be told: the GGUF architecture "
        "'rwkv9' is unknown"
    )


def test_a_missing_key_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        build(tmp_path, "llama", embedding_length=None)
    assert str(caught.value) == (
        f"{tmp_path / 'm.gguf'} has no metadata key 'llama.embedding_length', which this "
        "architecture needs; convert the model again with a recent llama.cpp."
    )


def test_an_array_of_the_wrong_length_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        build(tmp_path, "llama", attention__head_count_kv=[2, 2])
    assert str(caught.value) == (
        f"{tmp_path / 'm.gguf'}: 'llama.attention.head_count_kv' has 2 entries for 4 layers."
    )
