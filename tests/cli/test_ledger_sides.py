"""Two launches in one question: which version each is read for."""

import json
from typing import Any

import pytest

from vramledger.cli.main import run

LAUNCH = "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 8192"
IMAGE = (
    "docker run vllm/vllm-openai:v0.9.0 --model meta-llama/Llama-3.1-8B-Instruct "
    "--max-model-len 8192"
)
CARD = ["--gpu", "H100-80GB-SXM"]


def settings(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert run(["ledger", *words, *CARD, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    return {
        s["name"]: (s["from"].removeprefix("v"), s["to"].removeprefix("v"))
        for s in found["settings"]
    }


def test_the_stated_version_holds_for_both_sides(capsys: pytest.CaptureFixture[str]) -> None:
    words = (LAUNCH, "--engine-version", "0.12.0", "--vs", f"{LAUNCH} --max-num-seqs 64")
    assert "version" not in settings(capsys, *words)


def test_a_side_that_states_its_version_keeps_it(capsys: pytest.CaptureFixture[str]) -> None:
    after = settings(capsys, LAUNCH, "--engine-version", "0.12.0", "--vs", IMAGE)
    assert after["version"] == ("0.12.0", "0.9.0")
    before = settings(capsys, IMAGE, "--engine-version", "0.12.0", "--vs", LAUNCH)
    assert before["version"] == ("0.9.0", "0.12.0")


@pytest.mark.parametrize("option", ["--vs", "--beside"])
def test_a_launch_of_another_engine_is_not_counted_as_ours(
    capsys: pytest.CaptureFixture[str], option: str
) -> None:
    other = "python -m sglang.launch_server --model-path Qwen/Qwen3-8B"
    assert run(["ledger", LAUNCH, *CARD, option, other]) == 3
    assert capsys.readouterr().err == (
        f"vram: {option} names a launch of sglang, whose memory policy is not known here; compare "
        "launches of vLLM.\n"
    )
