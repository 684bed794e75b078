"""Rotary tables by class and scaling."""

from typing import Any

import pytest

from vramledger.model.config import Config
from vramledger.model.rotary import RotaryTable, rotary_tables


def tables(head_dim: int = 128, **values: Any) -> tuple[RotaryTable, ...]:
    return rotary_tables(Config({"max_position_embeddings": 4096, **values}, "test"), head_dim)


def test_a_plain_table_has_a_row_for_each_position() -> None:
    assert tables(model_type="llama") == (RotaryTable(4096, 128),)


@pytest.mark.parametrize("model_type", ["opt", "gpt2", "bloom", "jamba", "mamba2", "t5", "bert"])
def test_classes_without_rotary_positions_have_no_table(model_type: str) -> None:
    assert tables(model_type=model_type) == ()


@pytest.mark.parametrize(
    ("scaling", "positions"),
    [
        ({"rope_type": "llama3", "factor": 8.0}, 4096),
        ({"type": "linear", "factor": 8.0}, 32768),
        ({"type": "dynamic", "factor": 2.0}, 8192),
        ({"type": "dynamic", "alpha": 1000.0}, 4096),
        ({"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 1024}, 4096),
        ({"type": "yarn", "factor": 4.0}, 16384),
        ({"type": "longrope", "original_max_position_embeddings": 1024}, 5120),
    ],
)
def test_scaling_decides_the_length(scaling: dict[str, Any], positions: int) -> None:
    assert tables(model_type="llama", rope_scaling=scaling) == (RotaryTable(positions, 128),)


def test_only_the_rotated_part_of_a_head_is_kept() -> None:
    assert tables(80, model_type="phi", partial_rotary_factor=0.4) == (RotaryTable(4096, 32),)
    assert tables(96, model_type="gpt_neox", rotary_pct=0.25) == (RotaryTable(4096, 24),)
    assert tables(192, model_type="deepseek_v3", qk_rope_head_dim=64) == (RotaryTable(4096, 64),)


def test_sliding_layers_of_gemma_3_keep_an_unscaled_table() -> None:
    found = tables(
        256,
        model_type="gemma3_text",
        rope_local_base_freq=10000,
        rope_scaling={"rope_type": "linear", "factor": 8.0},
    )
    assert found == (RotaryTable(32768, 256), RotaryTable(4096, 256))


def test_tables_by_kind_of_layer_are_read_one_by_one() -> None:
    parameters = {
        "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.25},
        "sliding_attention": {"rope_type": "default"},
    }
    found = tables(256, model_type="gemma4_text", global_head_dim=512, rope_parameters=parameters)
    assert found == (RotaryTable(4096, 512), RotaryTable(4096, 256))


def test_the_text_part_of_a_multimodal_model_counts_and_sections_are_marked() -> None:
    config = Config(
        {
            "model_type": "qwen2_5_vl",
            "text_config": {
                "max_position_embeddings": 128000,
                "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]},
            },
        },
        "test",
    )
    assert rotary_tables(config, 128) == (RotaryTable(128000, 128, sections=True),)
