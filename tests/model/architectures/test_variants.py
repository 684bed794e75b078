"""Small variants of every class, with flags on, off and left out.

The totals were counted by building each configuration on the meta device with transformers 5.24.0.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from building import model_of, tensor_named
from vramledger.model import figures
from vramledger.model.architectures import build
from vramledger.model.config import Config

VARIANTS = Path(__file__).parents[2] / "data" / "architectures" / "variants.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in VARIANTS.read_text().splitlines()]
CLASSES = sorted({row["config"]["model_type"] for row in ROWS})


@pytest.mark.parametrize("model_type", CLASSES)
def test_small_variants_count_as_their_class_builds_them(model_type: str) -> None:
    rows = [row for row in ROWS if row["config"]["model_type"] == model_type]
    for row in rows:
        model = build(Config(row["config"], "config.json"), model_type)
        found = {
            "params_total": model.params_total,
            "full_bytes_per_token": figures.full_bytes_per_token(model),
            "window_bytes_per_token": figures.window_bytes_per_token(model),
            "window": figures.window(model),
            "indexer_bytes_per_token": figures.indexer_bytes_per_token(model),
        }
        assert found == {key: row[key] for key in found}, row["config"]


def test_the_variants_cover_three_configurations_of_77_classes() -> None:
    assert len(CLASSES) == 77
    assert len(ROWS) == 3 * 77


def test_roberta_serves_two_tokens_less_than_its_table_has_rows() -> None:
    shape: dict[str, Any] = {
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 128,
        "vocab_size": 1000,
        "max_position_embeddings": 514,
    }
    roberta = model_of("roberta", **shape)
    assert roberta.text.max_positions == 512
    assert tensor_named(roberta, "position_embeddings.weight").shape == (514, 64)
    assert model_of("roberta", **shape, pad_token_id=0).text.max_positions == 513
    assert model_of("bert", **shape).text.max_positions == 514
