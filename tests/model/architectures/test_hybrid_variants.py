"""Small variants of recurrent, encoder-decoder and multimodal classes, with flags on, off and absent.

Totals, and where the class writes checkpoints under their published names also the names with
their sizes, come from building each configuration on the meta device with transformers 5.24.0.
"""

import hashlib
import json
from collections import Counter
from math import prod
from pathlib import Path
from typing import Any

import pytest

from vramledger.model.architectures import build
from vramledger.model.config import Config
from vramledger.model.model import Model
from vramledger.model.tensor import Role

VARIANTS = Path(__file__).parents[2] / "data" / "architectures" / "hybrid_variants.jsonl"
ROWS: list[dict[str, Any]] = [json.loads(line) for line in VARIANTS.read_text().splitlines()]
CLASSES = sorted({row["config"]["model_type"] for row in ROWS})


def rows_of(model_type: str) -> list[dict[str, Any]]:
    return [row for row in ROWS if row["config"]["model_type"] == model_type]


def built(row: dict[str, Any]) -> Model:
    return build(Config(row["config"], "config.json"), row["config"]["model_type"])


def stored_names(model: Model) -> list[str]:
    """One line a stored parameter: its name and elements, pieces of one name added up."""
    sizes: Counter[str] = Counter()
    for tensor in model.tensors:
        if tensor.role is Role.BUFFER:
            continue
        for expert in range(tensor.copies if "{e}" in tensor.name else 1):
            name = tensor.name.replace("{e}", str(expert))
            sizes[name] += prod(tensor.shape) if "{e}" in tensor.name else tensor.elements
    return sorted(f"{name} {size}" for name, size in sizes.items())


@pytest.mark.parametrize("model_type", CLASSES)
def test_small_variants_have_as_many_parameters_as_their_class_builds(model_type: str) -> None:
    for row in rows_of(model_type):
        assert built(row).params_total == row["params_total"], row["config"]


@pytest.mark.parametrize("model_type", CLASSES)
def test_small_variants_have_the_names_and_sizes_that_their_class_writes(model_type: str) -> None:
    for row in rows_of(model_type):
        if "digest" not in row:
            continue
        names = stored_names(built(row))
        assert len(names) == row["names"], names
        digest = hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
        assert digest == row["digest"], (row["config"], names)


def test_the_variants_cover_three_configurations_of_39_classes() -> None:
    assert len(CLASSES) == 39
    assert len(ROWS) == 3 * 39
    assert sum("digest" in row for row in ROWS) == 93
