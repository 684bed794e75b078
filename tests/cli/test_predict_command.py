"""``vram predict``: one launch, a file of cases, and refusals in a sentence."""

import json
import re
from pathlib import Path

import pytest

from stored_workloads import request, stored
from timing_questions import case
from vramledger.cli.main import run

LAUNCH = "vllm serve meta-llama/Llama-3.1-8B --max-model-len 16384"
LOAD = ["--input-tokens", "1000", "--output-tokens", "500", "--concurrency", "16"]
CARD = ["--gpu", "H100-80GB-SXM", "--engine-version", "0.18.0"]


def test_a_launch_is_predicted_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["predict", LAUNCH, *CARD, *LOAD]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "meta-llama/Llama-3.1-8B on 1 x H100-80GB-SXM, vLLM 0.18.0"
    assert lines[1] == (
        "16 requests in flight per replica, 1000 tokens in, 500 out (each within 11.1% of that); steady state"
    )
    assert [line[:16].rstrip() for line in lines[3:9]] == [
        "TTFT, mean",
        "TPOT, mean",
        "output",
        "room",
        "  pessimistic",
        "where TPOT goes",
    ]
    assert re.fullmatch(
        r"room            \d+ requests of 1,500 tokens, their end; \d+ of 1,250, their mean; 1,024 sequences at once "
        "at most",
        lines[6],
    )
    assert re.fullmatch(
        r"  pessimistic   \d+ and \d+: the KV pool at the low end of the ledger's band, which vram simulate takes; "
        "this prediction takes the expected one",
        lines[7],
    )


def test_a_launch_is_predicted_as_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["predict", LAUNCH, *CARD, *LOAD, "--requests", "160", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["schema"] == "vramledger.prediction/1"
    for key in ("ttft_s", "tpot_s"):
        figure = found[key]
        assert 0 < figure["low"] < figure["value"] < figure["high"]
        assert figure["basis"] == found["basis"] == "calibrated"
    assert found["requests"] == 160
    assert found["binding"] in found["tpot_parts_s"]
    assert found["kv_feasible_concurrency"] > 16
    whole, mean = (found["kv_feasible"][name] for name in ("of_whole_requests", "of_mean_age"))
    assert whole["expected"] == found["kv_feasible_concurrency"]
    assert (whole["tokens_each"], mean["tokens_each"]) == (1500, 1250)
    for ends in (whole, mean):
        assert 0 < ends["pessimistic"] < ends["expected"]
    assert mean["expected"] > whole["expected"]
    assert found["output_tokens_per_s"] == found["output_tokens_per_s_per_gpu"]


def test_a_launch_that_does_not_start_exits_1(capsys: pytest.CaptureFixture[str]) -> None:
    launch = "vllm serve meta-llama/Llama-3.1-8B --max-model-len 131072"
    assert run(["predict", launch, "--gpu", "L4", "--engine-version", "0.18.0", *LOAD]) == 1
    assert "note: The ledger says that this does not start: " in capsys.readouterr().out


def test_cases_are_answered_one_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "cases.jsonl"
    rows = [case(), case(id="bad", gpu="nothing"), case(id="steady", requests=None)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    assert run(["predict", "--cases", str(file), "--json"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["id"] for row in found] == ["one", "bad", "steady"]
    assert all(row["schema"] == "vramledger.prediction/1" for row in found)
    assert found[1]["error"].startswith("Unknown GPU 'nothing'")
    assert set(found[1]) == {"schema", "id", "error"}
    assert found[0]["ttft_s"]["value"] > found[2]["ttft_s"]["value"]  # the burst
    assert run(["predict", "--cases", str(file)]) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("one: mean TTFT ")


def test_a_file_without_an_answer_exits_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text(json.dumps(case(engine="sglang")), "utf-8")
    assert run(["predict", "--cases", str(file), "--json"]) == 3
    assert "sglang" in json.loads(capsys.readouterr().out)["error"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "State the launch command to predict, or --cases FILE with many questions."),
        (
            [LAUNCH, *LOAD],
            "State the accelerator with --gpu NAME; vram gpus lists the names.",
        ),
        (
            [LAUNCH, *CARD],
            (
                "--input-tokens is missing; a prediction needs --input-tokens, --output-tokens and "
                "--concurrency."
            ),
        ),
        (
            ["--cases", "cases.jsonl", *CARD],
            (
                "--gpu has no part with --cases, whose lines state their own questions; leave it "
                "out."
            ),
        ),
        (
            ["--cases", "/nowhere/cases.jsonl"],
            "/nowhere/cases.jsonl cannot be read: No such file or directory; check its path.",
        ),
    ],
)
def test_a_question_without_a_part_is_refused(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["predict", *arguments]) == 2
    assert capsys.readouterr().err == f"vram: {sentence}\n"


def test_another_engine_cannot_be_known(capsys: pytest.CaptureFixture[str]) -> None:
    launch = "python -m sglang.launch_server --model-path Qwen/Qwen3-8B"
    assert run(["predict", launch, "--gpu", "L40S", *LOAD]) == 3
    assert capsys.readouterr().err == (
        "vram: The step time of sglang is not modelled; vllm launches are predicted.\n"
    )


def test_an_empty_file_of_cases_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text("\n\n", "utf-8")
    assert run(["predict", "--cases", str(file)]) == 2
    assert "holds no case; write one JSON object a line." in capsys.readouterr().err


def test_a_deployment_that_does_not_start_is_a_verdict_with_its_cause(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ["predict", "vllm serve meta-llama/Llama-3.1-70B", "--gpu", "L40S", *LOAD]
    assert run(asked) == 1
    said = capsys.readouterr().out
    assert said.startswith("DOES NOT START, so nothing is predicted: Loading the weights fails")
    assert run([*asked, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["starts"]) == ("vramledger.prediction/1", False)
    assert found["reason"].startswith("Loading the weights fails")


def test_requests_of_one_length_are_said_to_stay_in_step(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["predict", LAUNCH, *CARD, *LOAD, "--spread", "0"]) == 0
    said = capsys.readouterr().out
    assert "1000 tokens in, 500 out (all alike); steady state" in said
    assert (
        "note: All requests have one length, so that those who start together end together: every round of prompts "
        "comes at once. With lengths that differ (--spread, --workload) TTFT is shorter.\n"
    ) in said


def test_lengths_come_from_a_workload(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        request(row, arrival_s=float(row), input_tokens=tokens, output_tokens=100)
        for row, tokens in enumerate([500, 20_000, 700, 16_300])
    ]
    path = stored(tmp_path / "w.parquet", rows)
    asked = ["predict", LAUNCH, *CARD, "--workload", str(path), "--concurrency", "16"]
    assert run(asked) == 0
    said = capsys.readouterr().out
    assert "5833 tokens in, 95 out (means of the lengths that were recorded); steady state" in said
    assert "note: 1 of its requests are left out: the engine rejects prompts so long.\n" in said
    assert "note: 1 of its answers end at max_model_len.\n" in said
    assert run([*asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["lengths"], found["spread"]) == ("recorded", None)


@pytest.mark.parametrize("spread", ["-0.1", "1.5", "nan", "wide"])
def test_a_spread_that_is_none_is_refused(spread: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["predict", LAUNCH, *CARD, *LOAD, "--spread", spread]) == 2
    assert capsys.readouterr().err == (
        f"vram: --spread is {spread}; it is a share of the mean lengths from 0 to 1.\n"
    )


def test_means_beside_a_workload_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["predict", LAUNCH, *CARD, *LOAD, "--workload", "w.parquet"]) == 2
    assert capsys.readouterr().err == (
        "vram: --input-tokens has no part with --workload, whose requests have lengths of their own; leave it out.\n"
    )
