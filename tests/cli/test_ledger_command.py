"""``vram ledger``: exit codes and what reaches the output."""

import json

import pytest

from vramledger.cli.main import run

LAUNCH = "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 8192"
H100 = ["--gpu", "H100-80GB-SXM", "--engine-version", "0.19.0"]


def test_a_launch_that_holds_exits_0_with_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    command = f"{LAUNCH} --gpu-memory-utilization 0.95 --no-enable-prefix-caching"
    assert run(["ledger", command, *H100, "--total-gib", "79.19", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["fits"] is True
    assert found["ranks"][0]["weights_gib"]["value"] == pytest.approx(14.99, abs=0.005)
    assert found["ranks"][0]["activation_gib"]["value"] == pytest.approx(1.89, abs=0.01)
    assert found["kv"]["tokens"]["value"] == pytest.approx(476000, abs=48)  # logged
    assert found["kv"]["max_concurrency"] == pytest.approx(58.11, abs=0.01)  # logged


def test_a_launch_that_does_not_hold_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    long = "vllm serve meta-llama/Llama-3.1-8B-Instruct"
    assert run(["ledger", long, "--gpu", "RTX-4090", "--engine-version", "0.19.0"]) == 1
    assert capsys.readouterr().out.startswith("DOES NOT FIT: One request of max_model_len 131072")


def test_an_unknown_card_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ledger", LAUNCH, "--gpu", "H1000"]) == 2
    assert capsys.readouterr().err.startswith("vram: Unknown GPU 'H1000' in --gpu")


def test_a_command_without_a_model_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ledger", "vllm serve --max-model-len 8192", *H100]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_another_engine_gets_what_holds_anywhere_and_exits_3(
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = "python -m sglang.launch_server --model-path Qwen/Qwen3-32B --tp 2"
    assert run(["ledger", other, "--gpu", "H100-80GB-SXM", "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert found["fits"] is None
    assert found["kv_bytes_per_token"] == 262144
    assert found["legal_tensor_parallel"] == [1, 2, 4, 8, 16]
    assert found["reason"].startswith("sglang is recognised, but its memory policy is not")


def test_markdown_and_text_say_the_same_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ledger", LAUNCH, *H100, "--markdown"]) == 0
    markdown = capsys.readouterr().out
    assert run(["ledger", LAUNCH, *H100]) == 0
    text = capsys.readouterr().out
    sentence = text.splitlines()[0].removeprefix("FITS: ")
    assert f"**Fits.** {sentence}" in markdown


def test_request_tokens_are_read_as_the_engine_reads_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["ledger", LAUNCH, *H100, "--request-tokens", "2K", "--json"]) == 0
    source = json.loads(capsys.readouterr().out)["kv"]["capacity_tokens"]["source"]
    assert source == "tokens held at once by requests of 2048 tokens"
