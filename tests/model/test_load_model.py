"""From what a person names to a model."""

import json
from pathlib import Path

import pytest

from vramledger.errors import BadInput, UnknownName
from vramledger.evidence import Basis
from vramledger.model.load import load_model

CONFIG = {
    "model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "intermediate_size": 128, "vocab_size": 256,
}  # fmt: skip


def refusal(reference: str) -> str:
    with pytest.raises(BadInput) as caught:
        load_model(reference)
    return str(caught.value)


def test_a_directory_and_its_config_are_the_same_model(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG))
    one, other = load_model(str(tmp_path)), load_model(str(path))
    assert one.tensors == other.tensors
    assert one.weights_basis is Basis.DERIVED


def test_case_and_organisation_may_be_left_out() -> None:
    assert load_model("qwen/QWEN3-32b").id == "Qwen/Qwen3-32B"
    assert load_model("Qwen3-32B").tensors == load_model("Qwen/Qwen3-32B").tensors


def test_an_alias_keeps_its_name_and_says_whose_figures_it_has() -> None:
    model = load_model("meta-llama/Llama-3.1-8B-Instruct")
    assert model.id == "meta-llama/Llama-3.1-8B-Instruct"
    assert model.notes == ("Figures of meta-llama/Meta-Llama-3.1-8B, which it shares.",)
    assert model.params_total == 8_030_261_248


def test_an_unknown_repository_is_pointed_to_the_hub() -> None:
    with pytest.raises(UnknownName) as caught:
        load_model("Qwen/Qwen3-33B")
    message = str(caught.value)
    assert message.startswith("Unknown model 'Qwen/Qwen3-33B' in the catalogue; the nearest known")
    assert "Qwen/Qwen3-32B" in caught.value.nearest
    assert message.endswith("hf:Qwen/Qwen3-33B reads it from the hub.")


def test_a_path_that_is_not_there_is_no_catalogue_name() -> None:
    assert refusal("./models/missing") == (
        "There is no file or directory './models/missing'; give a directory with config.json, a "
        "weight file, a catalogue id or hf:org/name."
    )


def test_an_empty_directory_is_refused(tmp_path: Path) -> None:
    assert refusal(str(tmp_path)) == (
        f"{tmp_path} holds no config.json and no safetensors or GGUF weights; give the directory "
        "of a checkpoint."
    )


def test_a_config_that_links_in_circles_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.symlink_to(path)
    assert (
        refusal(str(tmp_path))
        == f"{path} cannot be read: Too many levels of symbolic links; mend the link."
    )


def test_an_unknown_model_type_without_weights_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({**CONFIG, "model_type": "lama"}))
    message = refusal(str(tmp_path))
    assert message.startswith(f"Unknown model_type 'lama' in {tmp_path / 'config.json'}")
    assert "llama" in message


def test_a_quantisation_section_beside_the_configuration_is_read(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    section = {"quantization": {"quant_algo": "FP8", "exclude_modules": ["lm_head"]}}
    (tmp_path / "hf_quant_config.json").write_text(json.dumps(section))
    model = load_model(str(tmp_path))
    assert model.quantization is not None
    assert model.weights_bytes < 1.5 * model.params_total


def test_a_name_that_promises_fewer_bits_than_the_configuration_is_noted(tmp_path: Path) -> None:
    folder = tmp_path / "model-AWQ"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    model = load_model(str(folder))
    assert model.weights_unknown == (
        "The name says that the weights are quantised, but the configuration does not say how; "
        "their bytes are those of plain bfloat16, an upper bound."
    )
    assert model.weights_basis is Basis.ASSUMED


def test_an_address_is_pointed_to_the_hub_form() -> None:
    assert refusal("https://hub.example/Qwen/Qwen3-32B") == (
        "'https://hub.example/Qwen/Qwen3-32B' is an address; write hf:org/name for a model on the "
        "hub, or give a local path."
    )


def test_a_home_directory_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert load_model("~/config.json").params_total > 0


def test_a_gguf_file_beside_a_configuration_is_pointed_to(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "model.gguf").touch()
    assert load_model(str(tmp_path)).notes == (
        "model.gguf is not read beside config.json; give its path for its bytes.",
    )
