"""Which layers keep a window: listed, by pattern, by the default of the class, or not at all."""

from typing import Any

import pytest

from building import model_of
from vramledger.errors import BadInput, UnknownName
from vramledger.model.cache import ChunkedAttention, FullAttention, SlidingAttention
from vramledger.model.model import Model

SHAPE = {
    "hidden_size": 256,
    "num_attention_heads": 32,
    "intermediate_size": 96,
    "vocab_size": 256,
    "max_position_embeddings": 32768,
}


def windows(model: Model) -> list[int]:
    """One figure a layer: the window or chunk, 0 for a layer that keeps all."""
    found = []
    for layer in model.cache_layers:
        match layer.spec:
            case SlidingAttention(window=window):
                found.append(window)
            case ChunkedAttention(chunk=chunk):
                found.append(chunk)
            case FullAttention():
                found.append(0)
            case other:
                raise AssertionError(other)
    return found


def windows_of(model_type: str, layers: int, **keys: Any) -> list[int]:
    return windows(model_of(model_type, **SHAPE, num_hidden_layers=layers, **keys))


def test_mistral_slides_everywhere_by_default_of_its_class() -> None:
    assert windows_of("mistral", 2) == [4096, 4096]


def test_mistral_with_a_null_window_keeps_everything() -> None:
    assert windows_of("mistral", 2, sliding_window=None) == [0, 0]


def test_a_window_that_the_longest_sequence_never_fills_is_none() -> None:
    assert windows_of("mistral", 1, sliding_window=32768) == [0]
    assert windows_of("mistral", 1, sliding_window=32767) == [32767]


def test_gemma_patterns_follow_their_classes() -> None:
    assert windows_of("gemma2", 4) == [4096, 0, 4096, 0]
    assert windows_of("gemma3_text", 6, sliding_window=512) == [512] * 5 + [0]
    assert windows_of("gemma3_text", 4, sliding_window=512, sliding_window_pattern=2) == [
        512, 0, 512, 0,
    ]  # fmt: skip


def test_command_r7b_and_olmo3_are_full_in_every_fourth_layer() -> None:
    assert windows_of("cohere2", 5) == [4096, 4096, 4096, 0, 4096]
    assert windows_of("olmo3", 4) == [4096, 4096, 4096, 0]


def test_exaone4_accepts_its_pattern_in_letters() -> None:
    assert windows_of("exaone4", 5, sliding_window_pattern="LLG") == [4096, 4096, 0, 4096, 0]
    assert windows_of("exaone4", 4, sliding_window=None) == [0, 0, 0, 0]


def test_qwen_slides_only_when_switched_on_and_above_its_bound() -> None:
    assert windows_of("qwen2", 3, sliding_window=64, max_window_layers=1) == [0, 0, 0]
    assert windows_of(
        "qwen2", 3, sliding_window=64, max_window_layers=1, use_sliding_window=True
    ) == [0, 64, 64]


def test_a_list_of_kinds_wins_over_the_pattern() -> None:
    kinds = ["full_attention", "sliding_attention"]
    assert windows_of("gpt_oss", 2, layer_types=kinds, num_local_experts=4) == [0, 128]


def test_llama4_chunks_the_layers_with_rotary_positions() -> None:
    assert windows_of("llama4_text", 4) == [8192, 8192, 8192, 0]


def test_other_letters_of_a_pattern_are_refused() -> None:
    with pytest.raises(BadInput) as refusal:
        windows_of("exaone4", 2, sliding_window_pattern="LLX")
    assert str(refusal.value) == (
        "config.json: 'sliding_window_pattern' is 'LLX'; write it in the letters L (sliding) and G "
        "(full), or as a period."
    )


def test_an_unknown_kind_is_refused_by_name() -> None:
    with pytest.raises(UnknownName) as refusal:
        windows_of("gemma2", 1, layer_types=["slidng_attention"])
    assert str(refusal.value) == (
        "Unknown layer kind 'slidng_attention' in config.json, 'layer_types'; the nearest known "
        "ones are sliding_attention, full_attention."
    )


def test_a_list_shorter_than_the_layers_is_refused() -> None:
    with pytest.raises(BadInput) as refusal:
        windows_of("gemma2", 2, layer_types=["full_attention"])
    assert str(refusal.value) == (
        "config.json: 'layer_types' lists 1 layers, but there are 2; list every layer."
    )
