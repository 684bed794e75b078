"""``vram sweep``: what it prints, what it keeps, what it refuses."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from stored_workloads import chats, stored
from vramledger.cli.main import run
from vramledger.errors import ExitCode

LAUNCH = "vllm serve meta-llama/Llama-3.1-8B --max-model-len 8192"
CARD = ("--gpu", "H100-80GB-SXM", "--engine-version", "0.32.0")
LOAD = ("--workload", "w.parquet", "--jobs", "1")
PLAN = """\
name: chat
model: meta-llama/Llama-3.1-8B
engine: {name: vllm, version: "0.32", args: {max-model-len: 8192}}
workload: w.parquet
scenarios:
  daily: {kind: latency, contract: {ttft_s: {p95: 5}, success: 0.99}}
  strict: {kind: latency, contract: {ttft_s: {p95: 0.000001}}}
gpus: [H100-80GB-SXM]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    stored(tmp_path / "w.parquet", chats(20, span_s=60))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def swept(*arguments: str, code: ExitCode = ExitCode.HOLDS) -> None:
    assert run(["sweep", LAUNCH, *CARD, *LOAD, *arguments]) == code


def answered(capsys: pytest.CaptureFixture[str], *arguments: str, **asked: Any) -> Any:
    swept(*arguments, "--json", **asked)
    return json.loads(capsys.readouterr().out)


def refused(
    capsys: pytest.CaptureFixture[str], *arguments: str, code: ExitCode = ExitCode.BAD_INPUT
) -> str:
    assert run(["sweep", *arguments]) == code
    said = capsys.readouterr()
    assert said.out == ""
    return said.err.removeprefix("vram: ").strip()


@pytest.mark.usefixtures("folder")
def test_the_table_has_the_base_and_each_change_with_its_effect(
    capsys: pytest.CaptureFixture[str],
) -> None:
    swept(
        "--one-at-a-time", "--set", "max-num-seqs=1,64", "--set", "tp=3", "--limit", "ttft p95 <= 1"
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[:4] == [
        "SIMULATED, not measured: w.parquet, seed 0",
        "base        meta-llama/Llama-3.1-8B on H100-80GB-SXM",
        "contract    ttft_s p95 <= 1",
        "points      4",
    ]
    assert lines[4:6] == ["judged      at the slow end of the step times too", "best        base"]
    for title in ("SIMULATED with the workload's prefix hits", "SIMULATED without prefix hits"):
        place = lines.index(title)
        assert lines[place + 1].split()[:3] == ["change", "verdict", "GPUs"]
        table = [line.split("  ")[0] for line in lines[place + 3 : place + 7]]
        assert table == [
            "base (best)",
            "max-num-seqs=1",
            "max-num-seqs=64",
            "tensor-parallel-size=3",
        ]
        assert "PASS" in lines[place + 3]
        assert "FAIL" in lines[place + 4]
        assert lines[place + 6].split()[1] == "refused"
    effects = lines[lines.index("EFFECT of each change on the base") + 1 :]
    assert effects[0].startswith("max-num-seqs=1: goodput x0.")
    assert effects[0].endswith("; ttft_s p95 <= 1 no longer holds; the contract FAILS")
    reasons = lines[lines.index("NOT SIMULATED") + 1 :]
    assert reasons[0].startswith("tensor-parallel-size=3: ")
    assert reasons[0].endswith(".")
    assert any(line.startswith("note: base: Step times are ") for line in lines)


@pytest.mark.usefixtures("folder")
def test_the_json_has_both_kinds_of_figures(capsys: pytest.CaptureFixture[str]) -> None:
    found = answered(
        capsys, "--set", "max-num-seqs=1", "--set", "gpu=L40S", "--limit", "ttft p95 <= 1"
    )
    assert found["schema"] == "vramledger.sweep/1"
    assert found["origin"] == "simulated"
    assert (found["asked"], found["done"], found["reused"]) == (3, 3, 0)
    assert found["base"]["changes"] == {}
    assert [point["changes"] for point in found["points"]] == [
        {"max-num-seqs": "1"},
        {"gpu": "L40S"},
    ]
    for row in (found["base"], *found["points"]):
        assert row["own"]["prefix_hit_share"] > row["no_hits"]["prefix_hit_share"] == 0
        assert row["own"]["ttft_p95_s"] > 0
        assert row["basis"] in {"calibrated", "assumed"}
    slow = found["points"][0]
    effect = slow["effects"]["e2e_p95_s"]
    before, after = (row["own"]["e2e_p95_s"] for row in (found["base"], slow))
    assert effect == {"difference": after - before, "ratio": after / before}
    assert slow["broke"] == ["ttft_s p95 <= 1"]
    assert slow["mended"] == []


@pytest.mark.usefixtures("folder")
def test_a_change_that_mends_the_contract_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([
        "sweep", f"{LAUNCH} --max-num-seqs 1", *CARD, *LOAD, "--set", "max-num-seqs=64", "--limit",
        "ttft p95 <= 1", "--json",
    ]) == ExitCode.HOLDS  # fmt: skip
    found = json.loads(capsys.readouterr().out)
    assert found["base"]["verdict"] == "FAIL"
    assert found["points"][0]["mended"] == ["ttft_s p95 <= 1"]


@pytest.mark.usefixtures("folder")
def test_tensor_steps_say_what_the_link_does(capsys: pytest.CaptureFixture[str]) -> None:
    swept("--set", "tp=2")
    lines = capsys.readouterr().out.splitlines()
    place = lines.index(
        "TENSOR-PARALLEL STEPS, derived in closed form for requests of mean lengths, KV pool at the "
        "pessimistic end of the ledger's band"
    )
    assert lines[place + 1] == (
        "TP 1 to 2, on servers of 8 x H100-80GB-SXM, over its fabric at 450 GB/s a direction"
    )
    said = [line.split(" to ")[0].rsplit(",", 1)[0] for line in lines[place + 2 : place + 5]]
    assert said[0] == "  saturation throughput of the server falls"
    assert said[1] == "  TTFT of a request alone falls"
    assert "bandwidth" in lines[place + 2]
    assert "GB/s" in lines[place + 3]
    step = answered(capsys, "--set", "tp=2")["tensor_steps"][0]
    assert (step["tp"], step["basis"]) == ([1, 2], "derived")
    assert step["link"] == {"kind": "fabric", "gb_per_s": 450.0}


@pytest.mark.usefixtures("folder")
def test_a_search_ends_in_three_trials(capsys: pytest.CaptureFixture[str]) -> None:
    asked = (
        "--search",
        "--gpus",
        "2",
        "--limit",
        "ttft p95 <= 1",
        "--set",
        "max-num-batched-tokens=2048,8192",
    )
    swept(*asked, "-o", "s.parquet")
    lines = capsys.readouterr().out.splitlines()
    assert lines[4].startswith("objective   the fewest GPUs that keep the contract")
    assert lines[5].startswith("search      up to 2 GPUs; ")
    assert lines[6].startswith("equal       goodput within 1%")
    assert lines[7].endswith(
        " on 1 x H100-80GB-SXM, which keeps the contract in simulation, at the slow end of the step times too"
    )
    place = lines.index(
        "THREE LIVE TRIALS would confirm it; serve each w.parquet at x1 its arrivals"
    )
    trials = lines[place + 1 : place + 10]
    launch = "vllm serve meta-llama/Llama-3.1-8B --max-model-len 8192"
    assert trials[0].startswith(f"1. best, 1 x H100-80GB-SXM: {launch}")
    assert trials[1].startswith("   decides whether the contract holds in fact")
    assert trials[2].startswith("   look at TTFT p95 (simulated ")
    assert "vllm:num_preemptions_total (0)" in trials[2]
    assert trials[3].startswith(f"2. runner-up, 1 x H100-80GB-SXM: {launch}")
    found = answered(capsys, *asked, "-o", "s.parquet")
    search = found["search"]
    assert found["reused"] == found["done"]
    assert search["holds"] is True
    assert search["best"] == search["ranking"][0]
    assert search["equal_within"] == {"goodput": 0.01, "highest_load": 0.04}
    assert [(one["gpus"], one["owes_evidence"]) for one in search["winners"]] == [
        (1, False), (1, True), (2, False), (2, True),
    ]  # fmt: skip
    assert all(trial["look_at"] for trial in search["trials"])


@pytest.mark.usefixtures("folder")
def test_prices_and_highest_loads_are_columns(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--set", "max-num-seqs=64", "--limit", "ttft p95 <= 1", "--knee")
    swept(*asked, "--price", "H100-80GB-SXM=USD 2.5/h", "-o", "s.parquet")
    lines = capsys.readouterr().out.splitlines()
    place = lines.index("SIMULATED without prefix hits")
    assert "holds to" in lines[place + 1]
    assert "USD per hour" in lines[place + 1]
    assert "  2.50  " in lines[place + 3]
    assert "/s (x" in lines[place + 3]
    found = answered(capsys, *asked, "-o", "s.parquet")
    assert found["reused"] == 2
    assert found["base"]["knee"] == "found"
    assert found["points"][0]["effects"]["knee_per_s"]["ratio"] > 0


@pytest.mark.usefixtures("folder")
def test_a_change_that_is_none_is_the_base(capsys: pytest.CaptureFixture[str]) -> None:
    swept("--set", "tp=1,2")
    lines = capsys.readouterr().out.splitlines()
    assert "tensor-parallel-size=1: same as base" in lines
    effect = next(line for line in lines if line.startswith("tensor-parallel-size=2: "))
    assert "saturation per GPU x" in effect
    assert "NOT SIMULATED" not in lines


@pytest.mark.usefixtures("folder")
def test_a_line_that_holds_now_is_no_contract_that_is_kept(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run([
        "sweep", f"{LAUNCH} --max-num-seqs 1", *CARD, *LOAD, "--set", "max-num-seqs=64", "--limit",
        "ttft p95 <= 1", "--limit", "tpot p95 <= 0.001ms",
    ]) == ExitCode.DOES_NOT_HOLD  # fmt: skip
    lines = capsys.readouterr().out.splitlines()
    effect = next(line for line in lines if line.startswith("max-num-seqs=64: "))
    assert effect.endswith(
        "; ttft_s p95 <= 1 holds now; the contract still FAILS: tpot_s p95 <= 1e-06"
    )


@pytest.mark.usefixtures("folder")
def test_a_search_that_ends_nowhere_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    asked = (
        "--search",
        "--gpus",
        "1",
        "--set",
        "kv-cache-dtype=auto",
        "--limit",
        "ttft p95 <= 0.001ms",
    )
    swept(*asked, code=ExitCode.DOES_NOT_HOLD)
    said = capsys.readouterr().out
    assert "best        no settings keep the contract; " in said
    assert " comes nearest" in said


def test_a_plan_brings_its_contract_and_its_scenarios(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "plan.yaml").write_text(PLAN)
    assert run([
        "sweep", "plan.yaml", "--scenario", "daily", "--set", "scenario=strict", "--set", "replicas=2",
        "--limit", "the queue drains", "--jobs", "1", "--json",
    ]) == ExitCode.HOLDS  # fmt: skip
    found = json.loads(capsys.readouterr().out)
    assert found["contract"] == ["ttft_s p95 <= 5", "success >= 99.00%", "the queue drains"]
    strict, two = found["points"]
    assert strict["verdict"] == "FAIL"
    assert strict["broken"] == ["ttft_s p95 <= 1e-06"]
    assert two["verdict"] == "PASS"
    assert (two["replicas"], two["gpus"]) == (2, 2)


def test_a_second_sweep_takes_what_the_file_has(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = answered(capsys, "--set", "max-num-seqs=2,4", "-o", "s.parquet")
    again = answered(capsys, "--set", "max-num-seqs=4,8", "-o", "s.parquet")
    assert (first["reused"], again["reused"]) == (0, 2)
    assert first["points"][1] == again["points"][0]
    assert pq.read_metadata(folder / "s.parquet").num_rows == 4
    said = refused(
        capsys, LAUNCH, *CARD, *LOAD, "--seed", "1", "--set", "max-num-seqs=4", "-o", "s.parquet"
    )
    assert said == "s.parquet holds results of another seed (0, now 1); choose another -o."


@pytest.mark.usefixtures("folder")
def test_nonsense_is_refused_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    base = (LAUNCH, *CARD, *LOAD)
    assert refused(capsys, *base) == (
        "There is nothing to change; state settings with --set, such as --set max-num-seqs=64,128."
    )
    assert refused(capsys, *base, "--set", "tp=2", "--grid", "--one-at-a-time") == (
        "--one-at-a-time and --grid are two ways to combine changes; choose one."
    )
    assert refused(capsys, *base, "--search") == (
        "A search needs a contract to serve; state its lines with --limit, or give a plan that has one."
    )
    assert refused(capsys, *base, "--set", "tp=2", "--gpus", "4") == (
        "--gpus has a part only in a search; add --search or leave it out."
    )
    assert refused(capsys, *base, "--search", "--grid", "--limit", "ttft p95 <= 1") == (
        "--search chooses its own points; leave --one-at-a-time and --grid out."
    )
    assert refused(capsys, *base, "--set", "tp=2", "--ray", "auto", "--jobs", "2") == (
        "--jobs counts processes here, and --ray simulates elsewhere; choose one."
    )
    assert refused(capsys, *base, "--set", "max-num-seqs=abc") == (
        "--set max-num-seqs is 'abc', which is not a count; write a whole number, or one with a suffix such as "
        "32k (32000) or 32K (32768)."
    )
    assert refused(capsys, *base, "--set", "gpu-memory-utilization=0.8,much") == (
        "--set gpu-memory-utilization has the value much, which is no number."
    )
    assert "max-nom-seqs" in refused(capsys, *base, "--set", "max-nom-seqs=4")
    assert "nowhere.parquet" in refused(
        capsys, LAUNCH, *CARD, "--workload", "nowhere.parquet", "--set", "tp=2"
    )


@pytest.mark.usefixtures("folder")
def test_a_sweep_of_which_nothing_is_known_ends_in_3(capsys: pytest.CaptureFixture[str]) -> None:
    guessing = '{"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 4}'
    launch = f"{LAUNCH} --speculative-config '{guessing}'"
    assert run(["sweep", launch, *CARD, *LOAD, "--set", "tp=2"]) == ExitCode.CANNOT_KNOW
    lines = capsys.readouterr().out.splitlines()
    reasons = lines[lines.index("NOT SIMULATED") + 1 :]
    assert [line.split(": ")[0] for line in reasons] == ["base", "tensor-parallel-size=2"]


def test_an_empty_workload_is_refused_before_anything_starts(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored(folder / "empty.parquet", chats(0, span_s=60))
    said = refused(capsys, LAUNCH, *CARD, "--workload", "empty.parquet", "--set", "tp=2")
    assert said == "empty.parquet holds no request; import logs that do, or name another workload."


@pytest.mark.usefixtures("folder")
def test_what_holds_as_expected_only_is_inconclusive_as_in_a_simulation(
    capsys: pytest.CaptureFixture[str],
) -> None:
    expected = answered(capsys, "--set", "max-num-seqs=64")["base"]["own"]["tpot_p95_s"]
    limit = ("--limit", f"tpot_s p95 <= {expected * 1.05}")
    alone = [LAUNCH, *CARD, "--workload", "w.parquet", *limit, "-o", "run"]
    assert run(["simulate", *alone]) == ExitCode.CANNOT_KNOW
    capsys.readouterr()
    found = answered(capsys, "--set", "max-num-seqs=64", *limit, code=ExitCode.CANNOT_KNOW)
    rows = (found["base"], *found["points"])
    assert {(row["verdict"], row["slow_end"]) for row in rows} == {("INCONCLUSIVE", False)}
    assert found["best"] is None
    swept("--search", "--gpus", "1", *limit, code=ExitCode.CANNOT_KNOW)
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("judged      the finalists at the slow end ") for line in lines)
    assert any(
        line.endswith(
            ", which keeps the contract as expected, not at the slow end of the step times"
        )
        for line in lines
    )
