"""Dimensions with the defaults of their class, and the longest sequence."""

from typing import Any

import pytest

from building import model_of
from vramledger.errors import BadInput
from vramledger.model.architectures import build
from vramledger.model.config import Config

LLAMA: dict[str, Any] = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 96,
    "vocab_size": 256,
    "max_position_embeddings": 4096,
}


def positions(model_type: str = "llama", **keys: Any) -> int:
    return model_of(model_type, **{**LLAMA, **keys}).text.max_positions


def test_linear_and_dynamic_scaling_lengthen_the_longest_sequence() -> None:
    assert positions(rope_scaling={"type": "linear", "factor": 2.5}) == 10240
    assert positions(rope_scaling={"rope_type": "dynamic", "factor": 4.0}) == 16384


@pytest.mark.parametrize("kind", ["yarn", "llama3", "longrope", "su"])
def test_scaling_that_the_published_length_includes_changes_nothing(kind: str) -> None:
    assert positions(rope_scaling={"rope_type": kind, "factor": 8.0}) == 4096


def test_gemma3_has_its_scaling_in_its_length() -> None:
    scaling = {"rope_type": "linear", "factor": 8.0}
    assert positions("gemma3_text", head_dim=16, rope_scaling=scaling) == 4096


def test_scaling_by_kind_of_layer_is_found_inside() -> None:
    ropes = {
        "full_attention": {"rope_type": "linear", "factor": 2.0},
        "sliding_attention": {"rope_type": "default"},
    }
    assert positions("olmo3", rope_parameters=ropes) == 8192


def test_the_smallest_length_counts_unless_a_model_length_replaces_it() -> None:
    assert positions(seq_length=1024) == 1024
    assert positions(seq_length=1024, model_max_length=131072) == 131072


def test_a_part_of_another_configuration_may_leave_out_what_its_class_assumes() -> None:
    part = Config({"model_type": "gemma3_text", "hidden_size": 2560}, "config.json", nested=True)
    text = build(part, "x").text
    assert (text.layers, text.heads, text.kv_heads, text.head_dim) == (26, 8, 4, 256)
    assert (text.intermediate, text.vocab) == (9216, 262208)


def test_a_configuration_of_its_own_must_state_its_dimensions() -> None:
    with pytest.raises(BadInput) as refusal:
        model_of("gemma3_text")
    assert str(refusal.value) == (
        "config.json has no 'hidden_size', which this architecture needs; add it."
    )


def test_kv_heads_left_out_are_the_default_of_the_class_and_null_means_all() -> None:
    wide = {**LLAMA, "num_attention_heads": 32}
    assert model_of("mistral", **wide).text.kv_heads == 8
    assert model_of("mistral", **wide, num_key_value_heads=None).text.kv_heads == 32


def test_a_head_is_as_wide_as_its_class_assumes() -> None:
    assert model_of("qwen3", **LLAMA, num_key_value_heads=4).text.head_dim == 128
    assert model_of("llama", **LLAMA).text.head_dim == 16


def test_embeddings_are_tied_as_the_class_assumes() -> None:
    assert model_of("gemma", **LLAMA, num_key_value_heads=1).tied_embeddings
    assert not model_of("llama", **LLAMA).tied_embeddings
