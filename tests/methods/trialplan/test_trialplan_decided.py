"""What a recorded trial decides: runs whose every row is known, judged by their bounds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recorded_trials import described, small_trial, standing
from vramledger.methods.measured.contract import all_gaps, served_of
from vramledger.methods.trialplan.decided import decided_lines, in_order, timed_gaps
from vramledger.plan.contract_json import contract_to_json
from vramledger.plan.requirement import Contract, LatencyLimit
from vramledger.record.run import read_run
from vramledger.statistics.bounds import bounds
from vramledger.trial.conduct.latencies import measured
from vramledger.trial.conduct.summary import summarise


def trial_of(folder: Path, contract: Contract | None, **trial: Any) -> Path:
    """Four requests: three ended as asked after 0.501 s, one was rejected; gaps of 10, 10 and 30 ms."""
    stated = None if contract is None else contract_to_json(contract)
    about = described(trial=standing().to_json() | {"contract": stated} | trial, scenario="daily")
    return small_trial(folder, about=about)


def found(folder: Path, contract: Contract, confidence: float = 0.9) -> dict[str, Any]:
    run = read_run(trial_of(folder, contract))
    return {each.asked: each for each in decided_lines(summarise(run), confidence)}


def test_four_requests_decide_what_four_can(tmp_path: Path) -> None:
    """Three of four: the lower bound at 90 % is 32 %, the upper one 97 %."""
    contract = Contract(
        latency={"ttft_s": (LatencyLimit(None, {0.3: 0.6, 0.9: 0.6, 0.98: 0.6}),)}, success=0.5
    )
    lines = found(tmp_path / "run", contract)
    between = bounds(3, 4, 0.9)
    assert between.low == pytest.approx(0.3205, abs=1e-4)
    assert between.high == pytest.approx(0.974, abs=1e-3)
    assert {asked: each.standing for asked, each in lines.items()} == {
        "ttft_s p30 <= 0.6": "holds",
        "ttft_s p90 <= 0.6": "not decided",
        "ttft_s p98 <= 0.6": "fails",
        "success >= 50.00%": "not decided",
    }
    success = lines["success >= 50.00%"]
    assert (success.low, success.high) == (between.low, between.high)
    assert success.why == "the bounds of the share have 0.5 between them"


def test_more_confidence_decides_less(tmp_path: Path) -> None:
    contract = Contract(latency={"ttft_s": (LatencyLimit(None, {0.3: 0.6}),)})
    assert found(tmp_path / "a", contract, 0.9)["ttft_s p30 <= 0.6"].standing == "holds"
    assert found(tmp_path / "b", contract, 0.95)["ttft_s p30 <= 0.6"].standing == "not decided"


def test_what_a_trial_is_not_held_against_stays_open(tmp_path: Path) -> None:
    contract = Contract(queue_must_drain=True, done_by="06:00", requests_per_hour=10.0)
    lines = found(tmp_path / "run", contract)
    assert {each.standing for each in lines.values()} == {"not decided"}
    assert lines["done by 06:00"].why == "it is not among what a trial is held against"
    assert lines["the queue drains"].why == (
        "the server does not tell its queue, or not for long enough"
    )
    assert lines["10 requests an hour"].why == "too few good requests for a rate"


def test_gaps_stand_in_the_order_in_which_they_ended(tmp_path: Path) -> None:
    run = read_run(trial_of(tmp_path / "run", Contract(success=0.5)))
    gaps = timed_gaps(run)
    assert sorted(np.round(gaps.seconds * 1000).astype(int)) == sorted(
        np.round(served_of(measured(run), all_gaps(run)).gaps.seconds * 1000).astype(int)
    )
    assert len(gaps.events) == len(gaps.seconds)


def test_gaps_of_short_inputs_are_judged_alone(tmp_path: Path) -> None:
    """All of them have 100 tokens: up to 100 they are the gaps of all, up to 99 there is none."""
    row = {up: LatencyLimit(up, {0.3: 0.02}) for up in (99, 100, None)}
    lines = found(tmp_path / "run", Contract(latency={"itl_s": tuple(row.values())}))
    none, some, every = lines.values()
    assert (none.standing, none.why) == ("not decided", "there was nothing to count")
    assert some.asked == "itl_s p30 <= 0.02 up to 100 input tokens"
    assert (some.standing, some.low, some.counted) == (every.standing, every.low, every.counted)
    assert every.counted == 3


def test_queue_times_are_judged_where_every_answer_has_one(tmp_path: Path) -> None:
    contract = Contract(latency={"queue_s": (LatencyLimit(None, {0.3: 0.2}),)})
    (line,) = found(tmp_path / "untold", contract).values()
    assert (line.standing, line.why) == (
        "not decided",
        "the run tells of 0 of 3 answered requests how long they were queued; stage times (--stages) tell it of each",
    )  # fmt: skip
    stated = standing().to_json() | {"contract": contract_to_json(contract)}
    folder = tmp_path / "told"
    small_trial(folder, about=described(trial=stated, scenario="daily"), queue_s=0.1)
    (line,) = decided_lines(summarise(read_run(folder)), 0.9)
    assert (line.standing, line.counted) == ("holds", 4)  # the rejected one waited for ever
    assert line.low == pytest.approx(bounds(3, 4, 0.9).low)


def test_order_changes_no_request(tmp_path: Path) -> None:
    run = read_run(trial_of(tmp_path / "run", Contract(success=0.5)))
    served = served_of(measured(run))
    order = np.arange(len(served.ok))[::-1]
    turned = in_order(served, order, served.gaps)
    assert (turned.ok[::-1] == served.ok).all()
    assert sorted(turned.latency) == sorted(served.latency)


def test_a_trial_without_a_contract_decides_nothing(tmp_path: Path) -> None:
    assert decided_lines(summarise(read_run(trial_of(tmp_path / "run", None))), 0.9) == ()
