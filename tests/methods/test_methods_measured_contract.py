"""The contract of a plan, held against trials whose every row is known."""

import json
from pathlib import Path
from typing import Any

import pytest

from commands import vram_here
from recorded_trials import described, small_trial, standing
from vramledger.errors import BadInput
from vramledger.methods.measured.contract import Standing, promised
from vramledger.plan.contract_json import contract_from_json, contract_to_json
from vramledger.plan.requirement import Contract, LatencyLimit
from vramledger.record.run import read_run
from vramledger.report.trial_contract import contract_lines
from vramledger.trial.conduct.summary import summarise

FIRST = LatencyLimit(None, {0.5: 0.6})  # seconds; half of the four requests have 0.501 or less
PARTS = Contract(
    latency={
        "ttft_s": (LatencyLimit(512, {0.5: 2.0, 0.95: 3.0}), LatencyLimit(None, {0.95: 9.0})),
        "itl_s": (LatencyLimit(None, {0.99: 0.05}),),
    },
    success=0.99,
    queue_must_drain=True,
    done_by="06:00",
    requests_per_hour=100.0,
)


def trial_of(folder: Path, contract: Contract | None, **trial: Any) -> Path:
    """Four requests: three ended as asked after 0.501 s, one was rejected; gaps of 10, 10 and 30 ms."""
    stated = None if contract is None else contract_to_json(contract)
    about = described(trial=standing().to_json() | {"contract": stated} | trial, scenario="daily")
    return small_trial(folder, about=about)


def test_a_contract_comes_back_as_it_was() -> None:
    assert contract_from_json(json.loads(json.dumps(contract_to_json(PARTS)))) == PARTS
    assert contract_from_json(contract_to_json(Contract())) == Contract()


@pytest.mark.parametrize("found", [{}, {"latency": 3}, {"latency": {"ttft_s": [{}]}}, []])
def test_what_is_no_contract_is_refused(found: Any) -> None:
    with pytest.raises(BadInput) as raised:
        contract_from_json(found)
    assert str(raised.value) == (
        "The contract in run.json is none that vram wrote; use an unchanged copy of the run."
    )


def test_every_line_is_held_against_all_that_was_offered(tmp_path: Path) -> None:
    contract = Contract(
        latency={"ttft_s": (FIRST,), "itl_s": (LatencyLimit(None, {0.5: 0.02}),)}, success=0.8
    )
    found = promised(summarise(read_run(trial_of(tmp_path / "run", contract))))
    assert [(each.line.asked, each.line.found, each.standing) for each in found.lines] == [
        ("ttft_s p50 <= 0.6", "0.501", Standing.HOLDS),
        ("itl_s p50 <= 0.02", "0.01", Standing.HOLDS),
        ("success >= 80.00%", "75.00%", Standing.FAILS),
    ]
    assert (found.scenario, found.standing) == ("daily", Standing.FAILS)


def test_a_percentile_of_too_few_requests_decides_nothing(tmp_path: Path) -> None:
    contract = Contract(latency={"ttft_s": (LatencyLimit(None, {0.99: 100.0}),)})
    found = promised(summarise(read_run(trial_of(tmp_path / "run", contract))))
    (line,) = found.lines
    assert (line.line.found, line.standing) == ("inf", Standing.OPEN)
    assert line.why == "4 values, and such a percentile needs 100"
    assert found.standing is Standing.OPEN


def test_what_a_record_does_not_tell_is_not_decided(tmp_path: Path) -> None:
    contract = Contract(latency={"queue_s": (FIRST,)}, queue_must_drain=True, done_by="06:00")
    found = promised(summarise(read_run(trial_of(tmp_path / "run", contract))))
    assert {(each.line.asked, each.standing) for each in found.lines} == {
        ("queue_s p50 <= 0.6", Standing.OPEN),
        ("the queue drains", Standing.OPEN),
        ("done by 06:00", Standing.OPEN),
    }


def test_a_line_that_made_text_cannot_decide_stays_open(tmp_path: Path) -> None:
    reason = {"line": "ttft_s", "why": "ttft_s cannot be judged: as is known."}
    folder = trial_of(
        tmp_path / "run", Contract(latency={"ttft_s": (FIRST,)}), unjudgeable=[reason]
    )
    (line,) = promised(summarise(read_run(folder))).lines
    assert (line.line.found, line.standing, line.why) == ("0.501", Standing.OPEN, reason["why"])


def test_a_run_without_a_contract_says_nothing_of_one(tmp_path: Path) -> None:
    folder = trial_of(tmp_path / "run", None)
    assert promised(summarise(read_run(folder))).standing is None
    done = vram_here(["trial", "show", str(folder)], tmp_path)
    assert (done.returncode, "contract    of" in done.stdout) == (0, False)


@pytest.mark.parametrize(
    ("contract", "code", "said"),
    [
        (Contract(latency={"ttft_s": (FIRST,)}), 0, "PASS"),
        (Contract(success=0.8), 1, "FAIL"),
        (Contract(queue_must_drain=True), 3, "INCONCLUSIVE"),
    ],
)
def test_the_exit_code_is_that_of_the_contract(
    contract: Contract, code: int, said: str, tmp_path: Path
) -> None:
    folder = trial_of(tmp_path / "run", contract)
    done = vram_here(["trial", "show", str(folder)], tmp_path)
    assert done.returncode == code
    assert (
        f"contract    of daily: {said}; figures of this one run, without intervals\n" in done.stdout
    )
    found = json.loads(vram_here(["trial", "show", str(folder), "--json"], tmp_path).stdout)
    assert found["contract"]["standing"] == {0: "holds", 1: "fails", 3: "not decided"}[code]


def test_a_run_that_decides_nothing_keeps_no_contract(tmp_path: Path) -> None:
    about = described(
        trial=standing().to_json() | {"contract": contract_to_json(Contract(success=0.5))}
    )
    folder = small_trial(tmp_path / "run", "The client was the bottleneck.", about=about)
    found = promised(summarise(read_run(folder)))
    assert found.lines[0].standing is Standing.HOLDS
    assert found.standing is Standing.OPEN
    assert vram_here(["trial", "show", str(folder)], tmp_path).returncode == 3


def test_lines_are_told_as_those_of_a_simulation(tmp_path: Path) -> None:
    contract = Contract(
        latency={"ttft_s": (LatencyLimit(512, {0.5: 0.6}), LatencyLimit(None, {0.99: 2.0}))},
        success=0.8,
        queue_must_drain=True,
    )
    lines = contract_lines(promised(summarise(read_run(trial_of(tmp_path / "run", contract)))))
    assert list(lines) == [
        "contract    of daily: FAIL; figures of this one run, without intervals",
        "PASS         ttft_s p50 <= 0.6 s up to 512 input tokens: 0.501 s",
        "INCONCLUSIVE ttft_s p99 <= 2 s: inf, of 4 where 100 are needed",
        "FAIL         success >= 80.00%: 75.00%",
        "not checked  the queue drains: it is not among what a trial is held against",
    ]
