"""Simulated runs held against a plan: the same lines, said to be simulated, and no evidence of acceptance."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from queued_trials import plan_of, queued_trial
from stored_workloads import request, stored
from vramledger.accept.judge import judge
from vramledger.accept.origins import notes_of, origin_of
from vramledger.accept.verdict import Said, Verdict
from vramledger.accept.verdict_json import verdict_json
from vramledger.cli.main import run
from vramledger.plan.read import parse_plan
from vramledger.plan.requirement import QualityEvidence, Requirement
from vramledger.record.gaps import with_gaps
from vramledger.record.run import read_run
from vramledger.report.verdict import verdict_text

MODEL = "Qwen/Qwen3-32B"
LAUNCH = f"vllm serve {MODEL} --max-model-len 8192 --max-num-seqs 4"
PLAN = """
name: sim
model: {model}
workload: {{input_tokens: {{p50: 500, max: 500}}, output_tokens: {{p50: 60, max: 60}}, requests_per_s: {rate}}}
scenarios:
  daily:
    kind: latency
    contract: {contract}
"""
CONTRACT = (
    "{ttft_s: {p50: 60.0}, itl_s: {p95: 1.0}, queue_s: {p50: 60.0}, success: 0.9, queue_must_drain: true, kv_free: 0.01, "
    "preemptions_per_1000: 100, memory_growth_gib_per_hour: 0.1, model_reported: m}"
)
CAPACITY_PER_S = 2.37  # of four sequences of 60 tokens on that card


def simulated(
    folder: Path, per_s: float, *, count: int = 700, seed: int = 1, before: int = 0
) -> Path:
    """Poisson arrivals to a server of four sequences; `before` requests come at once at the beginning."""
    draw, at = random.Random(seed), 0.0
    rows = []
    for number in range(count):
        at += draw.expovariate(per_s) if number >= before else 0.001
        rows.append(request(number, arrival_s=at, input_tokens=500, output_tokens=60))
    folder.mkdir(parents=True)
    workload = stored(folder / "w.parquet", rows)
    asked = ["--gpu", "H100-80GB-SXM", "--engine-version", "0.32.0", "--workload", str(workload)]
    run(["simulate", LAUNCH, *asked, "-o", str(folder / "r"), "--json"])
    return folder / "r"


@pytest.fixture(scope="module")
def with_room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulated(tmp_path_factory.mktemp("sim") / "room", CAPACITY_PER_S * 0.6)


def plan(rate: float, contract: str = CONTRACT) -> Requirement:
    return parse_plan(PLAN.format(model=MODEL, rate=rate, contract=contract))


def judged(folder: Path, rate: float) -> Verdict:
    return judge([read_run(folder)], plan(rate))


def test_lines_that_a_simulation_cannot_know_are_not_judgeable(with_room: Path) -> None:
    found = judged(with_room, 1.2)
    assert {line.name: str(line.said) for line in found.lines} == {
        "ttft_s p50 <= 60": "PASS",
        "itl_s p95 <= 1": "PASS",
        "queue_s p50 <= 60": "PASS",
        "success >= 90.00%": "PASS",
        "the queue drains": "PASS",
        "KV cache free at p99 >= 1.0%": "PASS",
        "preemptions per 1,000 requests <= 100": "PASS",
        "GPU memory growth <= 0.1 GiB an hour": "NOT JUDGEABLE",
        "the service reports m": "NOT JUDGEABLE",
        "the client kept up": "NOT JUDGEABLE",
    }
    reasons = {line.name: line.reason for line in found.lines}
    assert reasons["GPU memory growth <= 0.1 GiB an hour"] == "a simulation allocates no GPU memory"
    assert reasons["the service reports m"] == "a simulation asks no service"
    assert reasons["the client kept up"] == "a simulation has no client"
    assert found.exit_code == 0


def test_the_title_and_the_json_say_simulated(with_room: Path) -> None:
    found = judged(with_room, 1.2)
    assert verdict_text(found).splitlines()[:3] == [
        "PASS (SIMULATED): sim, 10 lines (7 PASS, 3 NOT JUDGEABLE); intervals hold 95%",
        "Figures are simulated, not measured on the server that is bought.",
        "However the lines stand, this is no evidence of acceptance: only measured runs are.",
    ]
    told = verdict_json(found)
    assert (told["origin"], told["no_evidence"]) == ("simulated", True)
    assert [each["origin"] for each in told["scenarios"]] == ["simulated"]
    assert {each["basis"] for each in told["lines"]} == {"simulated"}


def test_a_figure_is_that_of_the_simulation(with_room: Path) -> None:
    """Percentiles of ITL stand for every chunk that the steps stand for."""
    run_ = read_run(with_room)
    gaps = [gap for batch in with_gaps(run_) for each in batch["chunk_offset_us"].to_pylist() for gap in np.diff(each)]  # fmt: skip
    assert len(gaps) == 700 * 59
    found = {line.name: line for line in judged(with_room, 1.2).lines}
    itl = found["itl_s p95 <= 1"]
    assert itl.value == np.quantile(gaps, 0.95, method="inverted_cdf") / 1e6
    queued = run_.requests.numbers("queue_s")["queue_s"]
    assert found["queue_s p50 <= 60"].value == np.quantile(queued, 0.5, method="inverted_cdf")


@pytest.mark.parametrize("seed", range(4))
def test_too_many_arrivals_grow_and_few_drain(tmp_path: Path, seed: int) -> None:
    over = judged(simulated(tmp_path / "over", CAPACITY_PER_S * 1.3, seed=seed), 2.0)
    under = judged(simulated(tmp_path / "under", CAPACITY_PER_S * 0.7, seed=seed), 1.2)
    said = {each.name: each for each in over.lines}["the queue drains"]
    assert said.said is Said.FAIL
    assert said.reason.startswith("grows without bound; ")
    assert over.exit_code == 1
    said = {each.name: each for each in under.lines}["the queue drains"]
    assert (said.said, said.reason.split("; ")[0]) == (
        Said.PASS,
        "it was empty again at the end of the load",
    )


def test_a_burst_at_the_beginning_drains(tmp_path: Path) -> None:
    found = judged(simulated(tmp_path / "burst", CAPACITY_PER_S * 0.6, before=100), 1.0)
    assert {each.name: each for each in found.lines}["the queue drains"].said is Said.PASS


def test_mixed_origins_are_said(with_room: Path, tmp_path: Path) -> None:
    trial = read_run(queued_trial(tmp_path / "trial"))
    assert list(notes_of([trial, read_run(with_room)])) == [
        "The runs are of mixed origin: trial is measured, r is simulated.",
        "Figures are simulated, not measured on the server that is bought.",
        "However the lines stand, this is no evidence of acceptance: only measured runs are.",
    ]
    assert origin_of([trial, read_run(with_room)]) == "mixed"
    assert list(notes_of([trial])) == []
    alone = verdict_json(judge([trial], plan_of("{success: 0.5}")))
    assert (alone["origin"], alone["no_evidence"]) == ("measured", False)


def test_quality_without_evidence_is_not_judgeable_and_stays_unproven(with_room: Path) -> None:
    asked = replace(plan(1.2), quality=QualityEvidence(min_agreement=0.98))
    found = judge([read_run(with_room)], asked)
    line = next(each for each in found.lines if each.name == "agreement of answers >= 98.00%")
    assert (line.said, line.reason) == (Said.NOT_JUDGEABLE, "a simulation answers nothing")
    assert found.scenarios[0].work.quality_proven is False


def test_the_command_takes_it_and_verify_still_refuses_it(
    with_room: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN.format(model=MODEL, rate=1.2, contract=CONTRACT), encoding="utf-8")
    assert run(["accept", str(with_room), "--plan", str(path)]) == 0
    assert capsys.readouterr().out.startswith("PASS (SIMULATED): sim, ")
    assert run(["verify", "--seal", str(with_room), "-o", str(tmp_path / "b.zip")]) != 0
    assert not (tmp_path / "b.zip").exists()
