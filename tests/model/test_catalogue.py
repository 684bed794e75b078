"""The catalogue: enough models, every name usable, figures equal to the reference counts."""

import csv
import json
import tomllib
from pathlib import Path

import pytest

from make_catalogue import read_values
from vramledger.model import catalogue, figures
from vramledger.model.config import parse_config
from vramledger.model.load import load_model

MODELS = Path(catalogue.__file__).parent / "models"


def is_by_hand(model_id: str) -> bool:
    """Whether an entry stands on another one instead of a configuration."""
    return "\nlike = " in (MODELS / f"{model_id.replace('/', '--')}.toml").read_text(
        encoding="utf-8"
    )


@pytest.mark.parametrize("model_id", catalogue.ids())
def test_every_entry_builds_and_names_its_source(model_id: str) -> None:
    text = (MODELS / f"{model_id.replace('/', '--')}.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    assert content["id"] == model_id
    assert content["source"]
    assert load_model(model_id).params_total > 0


def test_at_least_a_hundred_and_twenty_models_ship() -> None:
    assert len(catalogue.ids()) >= 120


def test_every_alias_leads_to_a_model_and_hides_none() -> None:
    ids = set(catalogue.ids())
    folded = {name.casefold() for name in ids}
    for alias, target in catalogue.aliases().items():
        assert target in ids
        assert alias.casefold() not in folded


def test_no_entry_keeps_a_whole_configuration() -> None:
    unread = {
        "eos_token_id",
        "initializer_range",
        "rms_norm_eps",
        "transformers_version",
        "auto_map",
    }
    for path in MODELS.glob("*.toml"):
        config = tomllib.loads(path.read_text(encoding="utf-8"))["config"]
        assert not unread & config.keys(), path.name
        assert path.stat().st_size < 16_000, path.name


def test_entries_build_what_their_configurations_build(shared_data: Path) -> None:
    from vramledger.model.checkpoint import Checkpoint, assemble

    with (shared_data / "models" / "index.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    missing = {row["hf_id"] for row in rows} - set(catalogue.ids())
    assert not missing
    for row in rows:
        if is_by_hand(row["hf_id"]):
            continue
        content = json.dumps(read_values(shared_data / "models" / row["file"], row["hf_id"]))
        whole = assemble(Checkpoint(row["hf_id"], parse_config(content, row["hf_id"])))
        entry = load_model(row["hf_id"])
        assert entry.params_total == whole.params_total, row["hf_id"]
        assert entry.cache_layers == whole.cache_layers, row["hf_id"]
        assert entry.text == whole.text, row["hf_id"]


def test_bytes_in_bf16_equal_the_reference_counts(shared_data: Path) -> None:
    wrong = {}
    with (shared_data / "models" / "truth.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if not row["bytes_bf16"]:
                continue
            got = figures.weights_bytes_bf16(load_model(row["hf_id"]))
            if got != int(row["bytes_bf16"]):
                wrong[row["hf_id"]] = got - int(row["bytes_bf16"])
    assert not wrong


def test_every_model_that_was_measured_has_a_name_here(shared_data: Path) -> None:
    with (shared_data / "measured_serving.csv").open(encoding="utf-8") as file:
        names = {row["model_path"] for row in csv.DictReader(file)}
    assert {name for name in names if catalogue.find(name) is None} == set()


def test_most_models_of_published_logs_have_a_name_here(shared_data: Path) -> None:
    lines = (shared_data / "observations.jsonl").read_text(encoding="utf-8").splitlines()
    names = {json.loads(line)["model"] for line in lines}
    known = {name for name in names if catalogue.find(name) is not None}
    assert len(known) >= 0.7 * len(names)


def test_of_copies_with_the_same_figures_the_publishers_own_name_is_meant() -> None:
    entry = catalogue.find("Llama-3.1-8B-Instruct")
    assert entry is not None
    assert (entry.id, entry.same_as) == (
        "meta-llama/Llama-3.1-8B-Instruct",
        "meta-llama/Meta-Llama-3.1-8B",
    )


@pytest.mark.parametrize(
    "model_id",
    [
        *(f"google/gemma-3-{size}" for size in ("4b-it", "12b-it", "27b-it")),
        *(f"google/gemma-3-{size}-pt" for size in ("4b", "12b", "27b")),
        "gaunernst/gemma-3-12b-it-int4-awq",
    ],
)
def test_gemma_3_with_images_reads_128k_tokens(model_id: str) -> None:
    assert load_model(model_id).text.max_positions == 131072


@pytest.mark.parametrize(
    ("model_id", "stored_bytes"),
    [
        # Sizes of the published files, but for their headers.
        ("Qwen/Qwen2.5-72B-Instruct-AWQ", 41.6e9),
        ("Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", 482.2e9),
        ("Qwen/Qwen3-Embedding-0.6B", 1.19e9),
        ("Qwen/Qwen3-Embedding-8B", 15.13e9),
        ("intfloat/e5-mistral-7b-instruct", 14.22e9),
        ("BAAI/bge-large-en-v1.5", 1.34e9),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-NVFP4", 19.3e9),
        ("nvidia/NVIDIA-Nemotron-3.5-Lightning-30B-A3B-NVFP4", 19.4e9),
        ("mistralai/Ministral-3-3B-Instruct-2512", 4.67e9),
    ],
)
def test_bytes_as_stored_are_those_of_the_published_files(
    model_id: str, stored_bytes: float
) -> None:
    model = load_model(model_id)
    assert model.weights_unknown is None
    assert model.weights_bytes == pytest.approx(stored_bytes, rel=0.005)


def test_ranges_stand_for_every_combination() -> None:
    assert catalogue.expand_ranges("a.{0..2}") == ["a.0", "a.1", "a.2"]
    assert catalogue.expand_ranges("{1,3..4}.b.{7..8}") == [
        "1.b.7", "1.b.8", "3.b.7", "3.b.8", "4.b.7", "4.b.8",
    ]  # fmt: skip
    assert catalogue.expand_ranges("re:.*x{1}y$") == ["re:.*x1y$"]
    assert catalogue.expand_ranges("lm_head") == ["lm_head"]
