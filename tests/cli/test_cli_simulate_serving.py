"""``vram simulate`` with other policies, and with a trace of its steps."""

import json
from pathlib import Path
from typing import Any

import pytest

from stored_workloads import chats, stored
from vramledger.cli.main import run
from vramledger.errors import ExitCode
from vramledger.record.run import read_run
from vramledger.record.soundness import check_sound

LAUNCH = "vllm serve meta-llama/Llama-3.1-8B --max-model-len 8192 --max-num-seqs 4"
ASKED = (
    "simulate", LAUNCH, "--gpu", "H100-80GB-SXM", "--engine-version", "0.32.0", "--workload",
    "w.parquet",
)  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    stored(tmp_path / "w.parquet", chats(12, span_s=6))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answered(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert run([*ASKED, *arguments, "--json"]) == ExitCode.HOLDS
    return json.loads(capsys.readouterr().out)


@pytest.mark.usefixtures("folder")
def test_continuous_batching_answers_sooner_than_batches_that_nobody_joins(
    capsys: pytest.CaptureFixture[str],
) -> None:
    vllm = answered(capsys, "-o", "v", "--no-prefix")
    assert (vllm["policy"], vllm["contrast"]) == ("vllm", None)
    found = {
        name: answered(capsys, "-o", name, "--policy", name) for name in ("static", "transformers")
    }
    for name, each in found.items():
        assert each["policy"] == name
        assert not each["prefix_hits"]
        beside = each["contrast"]["vllm"]
        assert beside["e2e_s"] == vllm["e2e_s"]
        assert each["e2e_s"]["p50"] > vllm["e2e_s"]["p50"]
        assert each["binding"]["batch"] > vllm["binding"]["batch"] == 0
        assert each["contrast"]["throughput_ratio"] >= 1
        assert each["contrast"]["throughput_ratio_is_least"] == (
            vllm["queue_drains"] and vllm["waiting"]["p50"] == 0
        )
        check_sound(read_run(Path(name)))
    assert found["transformers"]["e2e_s"]["p50"] > found["static"]["e2e_s"]["p50"]
    assert found["transformers"]["kv_gib_s"]["p50"] > found["static"]["kv_gib_s"]["p50"]


@pytest.mark.usefixtures("folder")
def test_the_report_says_in_one_line_what_continuous_batching_buys(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run([*ASKED, "-o", "r", "--policy", "static"]) == ExitCode.HOLDS
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].endswith(", vLLM 0.32.0, policy static")
    assert any(
        line.startswith("theory      these lengths, batched continuously: ") for line in lines
    )
    (line,) = (line for line in lines if line.startswith("simulated   "))
    assert line.endswith(" requests a second of this machine (batch by batch)")
    (line,) = (line for line in lines if line.startswith("contrast"))
    assert line.startswith("contrast    vLLM's continuous batching, simulated: ")
    assert " times the output tokens a second, TTFT p50 " in line
    assert (
        "note: Batches of the policy static are as large as --max-num-seqs and the cache allow, with the "
        "lengths of the answers known, and are priced by the same step time as vLLM, so what differs is "
        "the scheduling alone."
    ) in lines


def test_where_arrivals_limit_the_gain_the_report_says_at_least(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {}
    for name, span_s in (("calm", 600), ("rushed", 0.01)):
        stored(folder / "w.parquet", chats(12, turns=1, span_s=span_s))
        assert run([*ASKED, "-o", name, "--policy", "transformers"]) == ExitCode.HOLDS
        lines = capsys.readouterr().out.splitlines()
        (said[name],) = (line for line in lines if line.startswith("contrast"))
    assert "simulated: at least " in said["calm"]
    assert said["calm"].endswith("; it keeps up with the arrivals and could do more")
    assert "at least" not in said["rushed"]
    assert "could do more" not in said["rushed"]


def test_a_trace_has_a_line_for_every_step_of_the_run(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = answered(capsys, "-o", "a")
    traced = answered(capsys, "-o", "b", "--trace-steps", "s.jsonl")
    lines = [json.loads(line) for line in (folder / "s.jsonl").read_text().splitlines()]
    assert len(lines) == plain["steps"] == traced["steps"]
    assert sum(len(line["finished"]) for line in lines) == plain["requests"]["ok"]
    assert lines[0].keys() == {
        "scheduled", "preempted", "running", "waiting", "kv_usage", "finished",
    }  # fmt: skip
    for key in ("ttft_s", "itl_s", "e2e_s", "kv_usage", "binding"):
        assert plain[key] == traced[key]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--policy", "statics"),
            "Unknown policy 'statics' in --policy; the nearest known one is static. There are vllm, static, transformers.",
        ),
        (
            ("--policy", "static", "--trace-steps", "s.jsonl"),
            "--trace-steps follows vLLM's scheduler, and --policy is static; leave one of them out.",
        ),
        (
            ("--knee", "--trace-steps", "s.jsonl"),
            (
                "--knee plays many loads, and --trace-steps follows one; simulate the load that it "
                "finds with --rate-scale."
            ),
        ),
        (
            ("--trace-steps", "no/s.jsonl"),
            "no/s.jsonl cannot be written: no is no folder; make it first.",
        ),
        (
            ("--acceptance", "1.5"),
            "--acceptance is 1.5; it is a share of the drafts, from 0 to 1.",
        ),
    ],
)
def test_nonsense_about_serving_ends_in_one_sentence(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    assert run([*ASKED, *arguments]) == ExitCode.BAD_INPUT
    found = capsys.readouterr()
    assert found.out == ""
    assert found.err.removeprefix("vram: ").strip() == said
