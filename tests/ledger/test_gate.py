"""A baseline is compared with its own model, and what differs is always said."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from vramledger.engine.read import read_launch
from vramledger.errors import BadInput
from vramledger.ledger.case import Case
from vramledger.ledger.gate import Baseline, gate, read_baseline
from vramledger.ledger.question import accelerator_for, model_of
from vramledger.report.ledger_json import ledger_json


def case(command: str, gpu: str = "H100-80GB-SXM", version: str = "0.19.0") -> Case:
    launch = read_launch(command)
    return Case(launch, model_of(launch), accelerator_for(gpu), version)


LLAMA = "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 8192"


def saved(start: Case, folder: Path) -> Baseline:
    path = folder / "kv.json"
    path.write_text(json.dumps(ledger_json(start.ledger())))
    return replace(read_baseline(path), where="kv.json")


def test_a_baseline_of_another_model_is_refused(tmp_path: Path) -> None:
    baseline = saved(case(LLAMA), tmp_path)
    with pytest.raises(BadInput) as caught:
        gate(case("vllm serve Qwen/Qwen3-8B").ledger(), baseline, 0.05)
    assert str(caught.value) == (
        "kv.json is of the model meta-llama/Llama-3.1-8B-Instruct and the launch serves "
        "Qwen/Qwen3-8B; save a baseline of this model with vram ledger --json, or compare the two "
        "with --vs."
    )


def test_what_differs_is_said_beside_a_pass(tmp_path: Path) -> None:
    baseline = saved(case(LLAMA), tmp_path)
    longer = case(LLAMA.replace("8192", "16384"), "H200-141GB-SXM")
    found = gate(longer.ledger(), baseline, 0.05)
    assert found.holds
    assert found.differs == (
        "gpu H100-80GB-SXM -> H200-141GB-SXM",
        "max_model_len 8192 -> 16384",
    )
    assert found.sentence.endswith(
        "What differs: gpu H100-80GB-SXM -> H200-141GB-SXM, max_model_len 8192 -> 16384."
    )


def test_two_spellings_of_a_release_do_not_differ(tmp_path: Path) -> None:
    baseline = saved(case(LLAMA, version="v0.19.0"), tmp_path)
    assert gate(case(LLAMA, version="0.19.0").ledger(), baseline, 0.0).differs == ()


def test_a_token_that_costs_more_is_named_as_the_cause(tmp_path: Path) -> None:
    baseline = saved(case(f"{LLAMA} --kv-cache-dtype fp8"), tmp_path)
    found = gate(case(LLAMA).ledger(), baseline, 0.05)
    assert not found.holds
    assert "resolved cache type fp8 -> bfloat16" in found.sentence
    assert found.sentence.endswith(
        "A token costs 131,072 instead of 65,536 bytes on a GPU (cache type bfloat16 instead of fp8)."
    )
