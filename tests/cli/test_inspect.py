"""``vram inspect``: the JSON others rely on, and the page a person reads."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from vramledger.cli.main import run


def inspected(model: str, capsys: pytest.CaptureFixture[str], code: int = 0) -> dict[str, Any]:
    assert run(["inspect", model, "--json"]) == code
    captured = capsys.readouterr()
    assert captured.err == ""
    result: dict[str, Any] = json.loads(captured.out)
    return result


def test_json_has_the_figures_of_the_reference_counts(
    shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with (shared_data / "models" / "truth.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows[::20]:
        got = inspected(row["hf_id"], capsys)
        assert got["schema"] == "vramledger.model/1"
        assert got["params_total"] == int(row["params_total"]), row["hf_id"]
        assert got["weights_bytes_bf16"] == int(row["bytes_bf16"]), row["hf_id"]
        cache = got["cache"]
        assert cache["full_bytes_per_token"] == int(row["kv_bytes_per_token_full_layers_bf16"])
        assert cache["window_bytes_per_token"] == int(row["kv_bytes_per_token_window_layers_bf16"])
        assert cache["window"] == (int(row["window"]) if row["window"] else None)
        assert cache["state_bytes_per_sequence"] == int(row["state_bytes_per_seq"])
        assert cache["state_bytes_per_sequence_fp32_ssm"] == int(
            row["state_bytes_per_seq_fp32_ssm"]
        )
        assert cache["indexer_bytes_per_token"] == int(row["indexer_bytes_per_token_bf16"])


def test_every_figure_has_its_basis_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    got = inspected("Qwen/Qwen3-32B", capsys)
    for key in ("params_total", "params_active", "weights_bytes", "weights_bytes_bf16"):
        assert got[f"{key}_basis"] == "derived"
    assert got["cache"]["basis"] == "derived"


def test_a_person_reads_identity_parameters_bytes_and_cache(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["inspect", "meta-llama/Meta-Llama-3.1-8B"]) == 0
    identity, parameters, weights, cache, not_known = capsys.readouterr().out.split("\n\n")
    assert identity == (
        "meta-llama/Meta-Llama-3.1-8B\n"
        "  LlamaForCausalLM, decoder; 32 layers of 4,096; 32 query heads; vocabulary 128,256; "
        "up to 131,072 positions"
    )
    assert parameters == (
        "Parameters (derived)\n"
        "  total                        8,030,261,248\n"
        "    mlp                        5,637,144,576\n"
        "    attention                  1,342,177,280\n"
        "    embedding                    525,336,576\n"
        "    head                         525,336,576\n"
        "    norm                             266,240"
    )
    assert weights.startswith(
        "Weights\n"
        "  as stored                        14.96 GiB   derived\n"
        "  all in bf16                      14.96 GiB   derived\n"
        "  loaded on one GPU                14.99 GiB   derived, vLLM 0.33 on H100-80GB-SXM\n"
        "  not quantised, bfloat16"
    )
    assert cache == ("Cache (16-bit, derived)\n  32 layers GQA 8 KV heads x 128: 128 KiB a token")
    assert not_known == (
        "Not known\n"
        "  Weight bytes follow from the configuration; headers of the weight files would make "
        "them exact.\n"
    )


IN_WORDS = {
    "deepseek-ai/DeepSeek-R1": (
        "61 layers MLA, one latent of 512 + 64 for all heads: 68.62 KiB a token"
    ),
    "openai/gpt-oss-20b": (
        "12 layers sliding window 128, GQA 8 KV heads x 64: 24 KiB a token, at most 3 MiB a "
        "sequence"
    ),
    "state-spaces/mamba-2.8b-hf": (
        "64 layers mamba1 state: 11.88 MiB a sequence, whatever its length"
    ),
    "google/gemma-2b": "18 layers MQA 1 KV head x 256: 18 KiB a token",
}


@pytest.mark.parametrize(("model", "sentence"), IN_WORDS.items())
def test_the_cache_is_said_in_words(
    model: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["inspect", model]) == 0
    assert f"  {sentence}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            "Qwen/Qwen3.5-397B-A17B",
            (
                "state: 93.16 MiB at 16 bit, 183.2 MiB with a float32 state, as vLLM 0.33 keeps it for "
                "this model"
            ),
        ),
        (
            "deepseek-ai/DeepSeek-V3.2",
            (
                "sparse indexer: 15.25 KiB a token at 16 bit, 7.863 KiB in FP8 with scales, as vLLM "
                "0.33 keeps it"
            ),
        ),
    ],
)
def test_what_the_engine_keeps_in_types_of_its_own_is_shown_beside_the_16_bit_figure(
    model: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["inspect", model]) == 0
    assert f"  {sentence}\n" in capsys.readouterr().out


def test_what_the_engine_keeps_at_16_bit_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", "Qwen/Qwen3-Next-80B-A3B-Instruct"]) == 0
    assert "at 16 bit" not in capsys.readouterr().out


def test_a_cache_that_cannot_be_told_is_null_with_a_reason_and_exit_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import numpy as np
    from safetensors.numpy import save_file

    path = tmp_path / "model.safetensors"
    save_file({"model.embed_tokens.weight": np.zeros((8, 4), np.float16)}, path)
    got = inspected(str(path), capsys, code=3)
    assert got["weights_bytes"] == 64
    assert got["weights_bytes_basis"] == "exact"
    assert got["cache"]["full_bytes_per_token"] is None
    assert got["cache"]["reason"] == (
        f"What {path} keeps in its cache cannot be told: there is no config.json beside the "
        "weights."
    )
    assert run(["inspect", str(path)]) == 3
    assert "\nCache\n  not known\n" in capsys.readouterr().out


def test_bytes_on_disk_and_loaded_are_both_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", "openai/gpt-oss-120b", "--engine-version", "0.14.1", "--json"]) == 0
    got = json.loads(capsys.readouterr().out)
    assert got["weights_bytes"] / 2**30 == pytest.approx(60.77, abs=0.005)
    assert got["weights_resident_bytes"] / 2**30 == pytest.approx(64.38, rel=0.005)
    assert got["weights_resident_on"]["gpu"] == "H100-80GB-SXM"
    assert got["weights_resident_on"]["notes"]


def test_an_unknown_card_or_version_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", "Qwen/Qwen3-32B", "--gpu", "H1000"]) == 2
    assert "'H1000'" in capsys.readouterr().err
    assert run(["inspect", "Qwen/Qwen3-32B", "--engine-version", "seven"]) == 2
    assert "'seven'" in capsys.readouterr().err


def test_a_version_newer_than_known_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", "Qwen/Qwen3-32B", "--engine-version", "0.99", "--json"]) == 0
    notes = json.loads(capsys.readouterr().out)["weights_resident_on"]["notes"]
    assert "0.99" in notes[0]


def test_an_unknown_model_is_one_sentence_and_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", "nobody/nothing-at-all-like-it"]) == 2
    assert capsys.readouterr().err == (
        "vram: Unknown model 'nobody/nothing-at-all-like-it' in the catalogue; nothing known comes "
        "near it. hf:nobody/nothing-at-all-like-it reads it from the hub.\n"
    )
