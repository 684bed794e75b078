"""Every row of the reference counts, exactly.

Parameter columns are compared where they were counted on the class that the configuration names or
by hand; the two rows counted on another, larger class keep their cache columns.
"""

import csv
from pathlib import Path

import pytest

from vramledger.model import figures
from vramledger.model.architectures import MODULES, build
from vramledger.model.config import Config, read_config
from vramledger.model.dtype import DType
from vramledger.model.model import Model
from vramledger.model.tensor import Role

COUNTED_ON_ANOTHER_CLASS = ("built from the NVFP4 sibling", "aiconfigurator flat config nested")


@pytest.fixture(scope="session")
def truth(shared_data: Path) -> dict[str, dict[str, str]]:
    with (shared_data / "models" / "truth.csv").open(newline="") as file:
        return {row["hf_id"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="session")
def configs(shared_data: Path) -> dict[str, Config]:
    folder = shared_data / "models"
    with (folder / "index.csv").open(newline="") as file:
        return {row["hf_id"]: read_config(folder / row["file"]) for row in csv.DictReader(file)}


@pytest.fixture(scope="session")
def models(configs: dict[str, Config]) -> dict[str, Model]:
    return {hf_id: build(config, hf_id) for hf_id, config in configs.items()}


def cache_columns(model: Model) -> dict[str, str]:
    window = figures.window(model)
    state = figures.state_bytes_per_sequence
    return {
        "kv_bytes_per_token_full_layers_bf16": str(figures.full_bytes_per_token(model)),
        "kv_bytes_per_token_window_layers_bf16": str(figures.window_bytes_per_token(model)),
        "window": "" if window is None else str(window),
        "state_bytes_per_seq": str(state(model)),
        "state_bytes_per_seq_fp32_ssm": str(state(model, DType.FLOAT32)),
        "indexer_bytes_per_token_bf16": str(figures.indexer_bytes_per_token(model)),
    }


def parameter_columns(model: Model) -> dict[str, str]:
    return {
        "params_total": str(model.params_total),
        "params_embedding": str(model.params_of(Role.EMBEDDING)),
        "params_lm_head": str(model.params_of(Role.HEAD)),
        "params_experts": str(model.params_of(Role.EXPERT)),
        "params_vision": str(model.params_of(Role.VISION)),
        "tied": str(model.tied_embeddings).lower(),
        "bytes_bf16": str(figures.weights_bytes_bf16(model)),
    }


def differences(found: dict[str, str], row: dict[str, str]) -> dict[str, tuple[str, str]]:
    return {key: (value, row[key]) for key, value in found.items() if value != row[key]}


def test_every_listed_class_is_registered(configs: dict[str, Config]) -> None:
    assert {config.text("model_type") for config in configs.values()} <= set(MODULES)


def test_cache_figures_equal_the_reference_in_every_row(
    models: dict[str, Model], truth: dict[str, dict[str, str]]
) -> None:
    wrong = {
        hf_id: difference
        for hf_id, model in models.items()
        if (difference := differences(cache_columns(model), truth[hf_id]))
    }
    assert wrong == {}


def test_parameter_counts_equal_the_reference_in_every_counted_row(
    models: dict[str, Model], truth: dict[str, dict[str, str]]
) -> None:
    wrong = {}
    for hf_id, model in models.items():
        row = truth[hf_id]
        if not row["params_total"] or row["method"].startswith(COUNTED_ON_ANOTHER_CLASS):
            continue
        stated = {key: value for key, value in parameter_columns(model).items() if row[key]}
        if difference := differences(stated, row):
            wrong[hf_id] = difference
    assert wrong == {}


def test_shared_experts_equal_the_figure_in_the_note(
    models: dict[str, Model], truth: dict[str, dict[str, str]]
) -> None:
    checked = 0
    for hf_id, model in models.items():
        note = truth[hf_id]["note"]
        if "shared experts " not in note:
            continue
        stated = int(note.partition("shared experts ")[2].split(" ")[0])
        gates = sum(
            t.elements
            for t in model.tensors
            if t.role is Role.SHARED_EXPERT and t.name.endswith("shared_expert_gate.weight")
        )
        assert model.params_of(Role.SHARED_EXPERT) in {stated, stated + gates}, hf_id
        checked += 1
    assert checked > 20


def test_router_correction_biases_are_listed_and_not_counted(models: dict[str, Model]) -> None:
    model = models["deepseek-ai/DeepSeek-R1"]
    biases = [t for t in model.tensors if t.role is Role.BUFFER]
    assert {t.name for t in biases} == {
        f"model.layers.{i}.mlp.gate.e_score_correction_bias" for i in range(3, 61)
    }
    assert sum(t.elements for t in biases) == 58 * 256
