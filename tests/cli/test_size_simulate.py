"""``vram size --simulate``: the columns it fills, the recommendation it changes, what it refuses."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stored_workloads import chats, stored
from vramledger.cli.main import run

HEAVY = ("duckdb", "ibis", "numba", "numpy", "plotly", "pyarrow", "scipy")
PLAN = """\
name: demo
model: Qwen/Qwen3-8B
engine: {name: vllm, version: "0.32", args: {max-num-seqs: 64, max-model-len: 16384}}
workload: {profile: chat, requests_per_s: RATE}
gpus: [L40S, H100-80GB-SXM]
prices: {L40S: 1.00/h, H100-80GB-SXM: 2.50/h}
scenarios:
  daily: {kind: latency, contract: {ttft_s: {p95: TTFT}, success: 0.99}}
"""


ONE_LAYOUT = (
    "max-num-seqs: 64, max-model-len: 16384, tensor-parallel-size: 1, pipeline-parallel-size: 1"
)


def plan_of(folder: Path, rate: float, ttft: float) -> str:
    path = folder / "plan.yaml"
    path.write_text(PLAN.replace("RATE", str(rate)).replace("TTFT", str(ttft)))
    return str(path)


def answered(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    assert run(["size", *arguments, "--simulate", "--json"]) == code
    return json.loads(capsys.readouterr().out)


def test_the_columns_are_filled_and_say_that_they_are_simulated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["size", plan_of(tmp_path, 2.0, 5.0), "--simulate", "--simulate-top", "2"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "2 of 2 cards hold and serve Qwen/Qwen3-8B with requests of up to 16,384 tokens. Memory was "
        "checked; 2 candidates were SIMULATED for speed and queueing, not measured.\n"
        "Cheapest of 2 cards that hold and serve it (simulated): 1 x L40S, 1.00 an hour, TP1 x 1.\n"
    )
    assert (
        "daily, simulated: 3,600 synthetic requests (profile chat: https://github.com/Azure/"
        "AzurePublicDataset, AzureLLMInferenceTrace_conv.csv (2023), seed 0), Poisson arrivals at 2 a "
        "second.\n"
    ) in out
    rows = [line for line in out.splitlines() if "  PASS, TTFT " in line]
    assert [row.split()[0] for row in rows] == ["L40S", "H100-80GB-SXM"]
    assert all(row.endswith("drains") for row in rows)
    told = [line for line in out.splitlines() if line.startswith("  SIMULATED daily (3,600 ")]
    assert len(told) == 2


def test_json_has_every_scenario_with_its_contract(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answered(capsys, plan_of(tmp_path, 2.0, 5.0), "--gpu", "L40S", "--simulate-top", "1")
    assert found["checked"] == ["memory", "speed", "queue"]
    best, *others = found["candidates"]
    assert best["recommended"] is True
    assert best["speed"].startswith("PASS, TTFT ")
    (scenario,) = best["simulated"]["scenarios"]
    assert scenario["origin"] == "simulated"
    assert scenario["basis"] in {"calibrated", "assumed"}
    assert scenario["requests"]["offered"] == scenario["requests"]["ok"] == 3_600
    assert scenario["queue_drains"] is True
    assert scenario["goodput_per_hour"] == pytest.approx(7_200, rel=0.1)
    assert [line["holds"] for line in scenario["contract"]] == [True, True]
    assert best["simulated"]["fails"] == []
    assert all(c["simulated"] is None for c in others)
    assert {c["speed"] for c in others} == {"not checked"}


def test_the_same_seed_gives_the_same_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_of(tmp_path, 2.0, 5.0)
    asked = (plan, "--gpu", "L40S", "--simulate-top", "1", "--seed")
    assert answered(capsys, *asked, "7") == answered(capsys, *asked, "7")
    assert answered(capsys, *asked, "7") != answered(capsys, *asked, "8")


def test_what_memory_holds_but_speed_does_not_gets_more_replicas(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answered(capsys, plan_of(tmp_path, 14.0, 2.0), "--gpu", "L40S", "--simulate-top", "1")
    best = found["candidates"][0]
    failed = [c for c in found["candidates"] if c["fits"] and not c["recommended"]]
    assert best["recommended"]
    assert best["speed"].startswith("PASS")
    assert failed
    least = min(failed, key=lambda c: c["gpus"])
    assert best["gpus"] > least["gpus"]
    assert least["speed"].startswith("FAIL")
    assert least["reason"].startswith(
        "In the simulation it does not serve daily: ttft_s p95 <= 2 ("
    )


def test_a_contract_that_nothing_meets_is_an_answer(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_of(tmp_path, 2.0, 0.0001)
    text = Path(plan).read_text()
    Path(plan).write_text(text.replace("max-num-seqs: 64, max-model-len: 16384", ONE_LAYOUT))
    arguments = ["size", plan, "--gpu", "L40S", "--simulate", "--simulate-top", "1"]
    assert run(arguments) == 1
    out = capsys.readouterr().out
    assert out.startswith(
        "NOTHING SERVES IT AS AGREED: L40S holds Qwen/Qwen3-8B with requests of up to 16,384 tokens, "
        "and in the simulation does not serve it. Memory was checked; "
    )
    assert "L40S" in out.split("Cards that hold it and do not serve it in the simulation:")[1]
    assert "do not hold" not in out
    assert "In the simulation it does not serve daily: ttft_s p95 <= 0.0001 (" in out
    found = answered(capsys, plan, "--gpu", "L40S", "--simulate-top", "1", code=1)
    assert (found["holds"], found["fits"]) == (False, True)


def test_limits_on_the_command_line_are_held_against_the_simulation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = ["Qwen/Qwen3-8B", "--rate", "2", "--gpu", "H100-80GB-SXM", "--simulate-top", "1"]
    found = answered(capsys, *asked, "--limit", "ttft p95 <= 2s", "--limit", "success >= 99%")
    (scenario,) = found["candidates"][0]["simulated"]["scenarios"]
    assert [line["asked"] for line in scenario["contract"]] == [
        "ttft_s p95 <= 2",
        "success >= 99.00%",
    ]
    assert scenario["fails"] == []
    slow = scenario["slow_end"]
    assert slow["tpot_p95_s"] > scenario["tpot_p95_s"]
    assert [line["holds"] for line in slow["contract"]] == [True, True]
    assert run(["size", *asked[:-2], "--limit", "ttft p95 <= 2"]) == 2
    assert capsys.readouterr().err == (
        "vram: --limit is held against a simulation; add --simulate.\n"
    )


def test_pipeline_stages_are_played_with_every_request(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_of(tmp_path, 2.0, 5.0)
    text = Path(plan).read_text().replace("profile: chat", "profile: classification")
    staged = ONE_LAYOUT.replace("pipeline-parallel-size: 1", "pipeline-parallel-size: 2")
    Path(plan).write_text(text.replace("max-num-seqs: 64, max-model-len: 16384", staged))
    found = answered(capsys, plan, "--gpu", "L40S", "--simulate-top", "1")
    best = found["candidates"][0]
    assert (best["pp"], best["speed"].partition(",")[0]) == (2, "PASS")
    assert best["simulated"]["scenarios"][0]["requests"]["ok"] == 3_600


def test_recorded_requests_show_what_their_prefixes_save(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stored(tmp_path / "w.parquet", chats(40, span_s=300))
    asked = ("Qwen/Qwen3-8B", "--workload", "w.parquet", "--gpu", "L40S", "--simulate-top", "1")
    found = answered(capsys, *asked)
    for scenario in found["candidates"][0]["simulated"]["scenarios"]:
        assert scenario["without_prefix_hits"]["ttft_p95_s"] >= scenario["ttft_p95_s"]


def test_a_layout_that_cannot_be_simulated_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.yaml"
    plan_of(tmp_path, 2.0, 5.0)
    plan.write_text(plan.read_text().replace('"0.32"', '"0.7.3"'))
    found = answered(capsys, str(plan), "--gpu", "L40S", "--simulate-top", "1", code=3)
    best = found["candidates"][0]
    assert found["checked"] == ["memory"]
    assert (found["holds"], found["fits"], found["known"]) == (False, True, False)
    assert (best["speed"], best["recommended"]) == ("not checked", True)
    (why,) = best["simulated"]["not_simulated"]
    assert why == (
        "vLLM 0.7.3 schedules by the rules of V0, which are not simulated; simulate a version from 0.9 "
        "on."
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--simulate-top", "2"],
            "--simulate-top and --seed are of a simulation; add --simulate.",
        ),
        (
            ["--seed", "2"],
            "--simulate-top and --seed are of a simulation; add --simulate.",
        ),
        (
            ["--simulate", "--simulate-top", "0"],
            "--simulate-top is 0; it must be from 1 to 100.",
        ),
    ],
)
def test_options_of_a_simulation_are_checked(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["size", "Qwen/Qwen3-8B", "--rate", "1", "--gpu", "L40S", *options]) == 2
    assert capsys.readouterr().err == f"vram: {said}\n"


def test_the_base_installation_says_what_to_install() -> None:
    code = (
        "import importlib.util as util\n"
        "found = util.find_spec\n"
        f"util.find_spec = lambda name, *rest: None if name in {HEAVY!r} else found(name, *rest)\n"
        "from vramledger.cli.main import main\n"
        "main()\n"
    )
    arguments = ["size", "Qwen/Qwen3-8B", "--rate", "1", "--gpu", "L40S", "--simulate"]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == (
        "vram: vram size --simulate needs duckdb, ibis, numba, numpy, pyarrow, scipy, which the base "
        "installation leaves out; run pip install 'vramledger[full]', or '.[full]' in a checkout.\n"
    )


def test_requests_in_flight_that_are_stated_are_kept_in_flight(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = plan_of(tmp_path, 1.0, 5.0)
    text = Path(plan).read_text().replace("requests_per_s: 1.0", "concurrent: 8")
    Path(plan).write_text(text)
    found = answered(capsys, plan, "--gpu", "H100-80GB-SXM", "--simulate-top", "1")
    (scenario,) = found["candidates"][0]["simulated"]["scenarios"]
    assert scenario["load"].endswith(", always 8 in flight")
    mean_s = 3_600 * 8 / scenario["goodput_per_hour"]  # Little's law
    assert 0.1 * scenario["e2e_p95_s"] < mean_s < scenario["e2e_p95_s"]
