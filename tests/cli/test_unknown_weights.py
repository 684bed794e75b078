"""A model whose name promises fewer bits than its configuration explains: no verdict, and said so."""

import json

import pytest

from vramledger.cli.main import run

MODEL = "nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-NVFP4"
LAUNCH = f"vllm serve {MODEL} -tp 8 --max-model-len 8192 --max-num-seqs 64"
WHY = (
    "The name says that the weights are quantised, but the configuration does not say how; their "
    "bytes are those of plain bfloat16, an upper bound."
)


@pytest.mark.parametrize("gpu", ["B300", "H100-80GB-SXM"])
def test_the_ledger_gives_no_verdict(gpu: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ledger", LAUNCH, "--gpu", gpu]) == 3
    out = capsys.readouterr().out
    assert out.startswith(f"CANNOT KNOW: {WHY} With those: ")
    assert (
        f"A20 warning: {WHY} What is left for the cache is at least what is shown; name a directory "
        "with the weight files, or hf:org/name, for a verdict."
    ) in out


def test_the_row_of_the_weights_is_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ledger", LAUNCH, "--gpu", "B300", "--json"]) == 3
    rank = json.loads(capsys.readouterr().out)["ranks"][0]
    assert rank["weights_gib"]["basis"] == "assumed"


def test_markdown_gives_no_verdict_either(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ledger", LAUNCH, "--gpu", "B300", "--markdown"]) == 3
    assert f"**Cannot know.** {WHY} **With those:** " in capsys.readouterr().out


def test_an_inverse_question_has_no_answer(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ledger", LAUNCH, "--gpu", "B300", "--solve", "max-model-len"]) == 3
    assert capsys.readouterr().out.startswith(f"CANNOT KNOW: {WHY}\n")


def test_a_sizing_gives_no_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["size", MODEL, "--concurrent", "4", "--gpu", "B300"]
    assert run(arguments) == 3
    assert capsys.readouterr().out.startswith(f"CANNOT KNOW: {WHY} With those: B300 holds ")
    assert run([*arguments, "--json"]) == 3
    answer = json.loads(capsys.readouterr().out)
    assert (answer["known"], answer["weights_unknown"]) == (False, WHY)


def test_no_tiers_and_no_other_precision_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["size", MODEL, "--tiers"]) == 3
    assert capsys.readouterr().err == f"vram: {MODEL}: {WHY}\n"
    assert run(["size", MODEL, "--concurrent", "4", "--precision", "fp8"]) == 3
    assert capsys.readouterr().err == f"vram: --precision: {MODEL} as fp8: {WHY}\n"


def test_inspect_calls_the_bytes_assumed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["inspect", MODEL]) == 0
    out = capsys.readouterr().out
    assert "how they are stored is not known; plain bfloat16 is an upper bound" in out
    assert "not quantised" not in out
    assert f"Not known\n  {WHY}\n" in out
