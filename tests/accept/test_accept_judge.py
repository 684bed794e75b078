"""Runs of known queues held against contracts."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from queued_trials import plan_of, queued_trial
from vramledger.accept.judge import judge
from vramledger.accept.verdict import Line, Said, Verdict
from vramledger.accept.verdict_json import verdict_json
from vramledger.errors import BadInput, UnknownName
from vramledger.record.outcome import Outcome
from vramledger.record.run import read_run
from vramledger.report.verdict import verdict_text
from vramledger.simulate.judged import judged
from vramledger.trial.conduct.latencies import measured

WIDE = "{ttft_s: {p50: 1.0, p95: 2.0}, success: 0.98, queue_must_drain: true}"


def verdict(folder: Path, contract: str, rate: float = 9.0, **given: Any) -> Verdict:
    return judge([read_run(queued_trial(folder, **given))], plan_of(contract, rate))


def lines(found: Verdict) -> dict[str, Line]:
    return {line.name: line for line in found.lines}


def test_a_server_with_room_passes(tmp_path: Path) -> None:
    found = verdict(tmp_path / "run", WIDE)
    assert {name: str(line.said) for name, line in lines(found).items()} == {
        "ttft_s p50 <= 1": "PASS",
        "ttft_s p95 <= 2": "PASS",
        "success >= 98.00%": "PASS",
        "the queue drains": "PASS",
        "the client kept up": "PASS",
    }
    assert (found.said, found.exit_code) == (Said.PASS, 0)


def test_a_server_without_room_fails_and_its_queue_grows(tmp_path: Path) -> None:
    found = verdict(tmp_path / "run", WIDE, servers=3)
    queue = lines(found)["the queue drains"]
    assert queue.said is Said.FAIL
    assert queue.reason.startswith("grows without bound; ")
    assert lines(found)["ttft_s p95 <= 2"].said is Said.FAIL
    assert found.exit_code == 1


def test_a_figure_lies_in_its_interval_and_is_that_of_a_trial(tmp_path: Path) -> None:
    """The value is the one that every other verb shows for the line."""
    from vramledger.methods.measured.contract import all_gaps, served_of

    contract = "{ttft_s: {p50: 0.1, p95: 0.6, p99: 3.0}, itl_s: {p95: 1.0}, tpot_s: {p95: 2.0}, success: 0.9}"
    run = read_run(queued_trial(tmp_path / "run"))
    plan = plan_of(contract)
    found = lines(judge([run], plan))
    plain = judged(plan.scenarios[0].contract, served_of(measured(run), all_gaps(run)))
    for line in plain:
        of = found[line.asked]
        assert line.amount is not None
        assert of.value == pytest.approx(line.amount.value, abs=2e-6)
        assert of.low is not None
        assert of.high is not None
        assert of.low <= of.value <= of.high  # type: ignore[operator]


def test_too_few_for_a_percentile_are_inconclusive_and_say_how_many_more(tmp_path: Path) -> None:
    found = lines(verdict(tmp_path / "run", "{ttft_s: {p99: 5.0}}", count=200))["ttft_s p99 <= 5"]
    assert found.said is Said.INCONCLUSIVE
    assert "and p99 has no upper bound of so few" in found.reason
    more, *_ = found.settles.split(" ")
    assert int(more.replace(",", "")) >= 368 - 200
    assert "more requests (about " in found.settles


def test_failures_count_against_percentiles_and_success(tmp_path: Path) -> None:
    failed = dict.fromkeys(range(0, 600, 5), Outcome.FAILED)
    found = lines(verdict(tmp_path / "run", WIDE, outcomes=failed))
    assert found["ttft_s p95 <= 2"].said is Said.FAIL
    assert found["ttft_s p95 <= 2"].value == float("inf")
    assert found["ttft_s p50 <= 1"].said is Said.PASS
    success = found["success >= 98.00%"]
    assert (success.said, success.value) == (Said.FAIL, 0.8)
    assert success.reason == "120 failed"


def test_a_lighter_load_than_the_plans_decides_nothing(tmp_path: Path) -> None:
    found = verdict(tmp_path / "run", WIDE, rate=20.0)
    for name, line in lines(found).items():
        if name != "the client kept up":
            assert line.said is Said.INCONCLUSIVE
            assert line.reason.startswith("requests a second: 10.")
            assert "reached, 20 asked" in line.reason
            assert line.settles == "a run that reaches what the plan asks"
    assert found.exit_code == 3


def test_a_client_that_was_the_bottleneck_decides_nothing(tmp_path: Path) -> None:
    found = lines(verdict(tmp_path / "run", WIDE, bottleneck="The client was late."))
    assert {line.said for line in found.values()} == {Said.INCONCLUSIVE}
    assert found["ttft_s p95 <= 2"].reason == "The client was late"


def test_a_run_too_short_for_the_plan_decides_nothing(tmp_path: Path) -> None:
    found = lines(verdict(tmp_path / "run", "{success: 0.9, minutes_of_load: 30}"))
    assert "seconds of load: 5" in found["success >= 90.00%"].reason
    assert "reached, 1,800 asked" in found["success >= 90.00%"].reason


def test_a_missing_scenario_leaves_its_lines_open(tmp_path: Path) -> None:
    from vramledger.plan.read import parse_plan

    text = (
        "name: two\nmodel: m\nworkload: {input_tokens: {p50: 100, max: 100}, output_tokens: {p50: 3, max: 3}, requests_per_s: 9}\n"
        "scenarios:\n  daily: {kind: latency, contract: {success: 0.9}}\n"
        "  burst: {kind: latency, contract: {ttft_s: {p95: 30}}}\n"
    )
    found = judge([read_run(queued_trial(tmp_path / "run"))], parse_plan(text))
    daily, burst = found.scenarios
    assert (daily.said, burst.said, burst.run) == (Said.PASS, Said.INCONCLUSIVE, None)
    assert burst.lines[0].reason == "no run of the scenario burst was given"
    assert burst.lines[0].settles == "a run of it: vram trial run PLAN --scenario burst"
    assert found.exit_code == 3


def test_another_workload_than_the_plans_decides_nothing(tmp_path: Path) -> None:
    from vramledger.accept.beside import Beside

    run = read_run(queued_trial(tmp_path / "run"))
    found = judge([run], plan_of(WIDE), Beside({"daily": "2" * 64}))
    assert lines(found)["ttft_s p95 <= 2"].reason == (
        "the run sent another workload (111111111111) than the plan's (222222222222)"
    )
    assert judge([run], plan_of(WIDE), Beside({"daily": "1" * 64})).said is Said.PASS


def test_runs_that_belong_to_no_scenario_or_to_one_twice_are_refused(tmp_path: Path) -> None:
    one = read_run(queued_trial(tmp_path / "one", count=30))
    two = read_run(queued_trial(tmp_path / "two", count=30))
    other = read_run(queued_trial(tmp_path / "other", count=30, scenario="nightly"))
    with pytest.raises(BadInput, match="are both of the scenario daily, and one run decides each"):
        judge([one, two], plan_of(WIDE))
    with pytest.raises(UnknownName, match="Unknown scenario 'nightly'"):
        judge([other], plan_of(WIDE))


def test_the_same_run_always_gives_the_same_object(tmp_path: Path) -> None:
    run = read_run(queued_trial(tmp_path / "run"))
    first, again = (verdict_json(judge([run], plan_of(WIDE))) for _ in range(2))
    assert first == again
    assert set(first["lines"][0]) >= {"name", "verdict", "value", "low", "high", "threshold", "reason"}  # fmt: skip


def test_a_rehearsed_run_says_so(tmp_path: Path) -> None:
    from vramledger.record.document import Origin

    text = verdict_text(verdict(tmp_path / "run", WIDE, origin=Origin.REHEARSED))
    assert "Figures are rehearsed, not measured on the server that is bought." in text


@pytest.mark.parametrize(("pages", "residual"), [(True, True), (False, False)])
def test_littles_law_stands_beside_the_queue(
    tmp_path: Path, *, pages: bool, residual: bool
) -> None:
    found = lines(verdict(tmp_path / "run", WIDE, pages=pages))["the queue drains"]
    assert ("of what the client's times come to" in found.reason) is residual
    assert found.said is Said.PASS


def test_an_empty_run_is_open_and_never_a_crash(tmp_path: Path) -> None:
    failed = dict.fromkeys(range(3), Outcome.REJECTED)
    found = verdict(tmp_path / "run", WIDE, count=3, outcomes=failed, pages=False)
    assert found.said in (Said.INCONCLUSIVE, Said.FAIL)
    assert not np.isnan([line.value or 0.0 for line in found.lines]).any()


def test_lines_of_length_classes_stand_apart(tmp_path: Path) -> None:
    contract = "{ttft_s: [{output_min: 4, p50: 5}, {input_max: 100, output_max: 3, p50: 5}], itl_s: [{input_max: 99, p50: 1}]}"
    found = lines(verdict(tmp_path / "run", contract))
    assert found["ttft_s p50 <= 5 up to 100 input tokens up to 3 output tokens"].counted == 600
    for name in ("ttft_s p50 <= 5 from 4 output tokens", "itl_s p50 <= 1 up to 99 input tokens"):
        assert found[name].reason == "no request of the run has this figure"
