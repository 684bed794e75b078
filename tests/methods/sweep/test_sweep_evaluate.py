"""A point's row is what a simulation of its own launch says."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from swept import CARD, LAUNCH, VERSION, base, quiet, scaled
from vramledger.engine.read import read_launch
from vramledger.ledger.case import Case
from vramledger.ledger.question import accelerator_for, model_of
from vramledger.methods.sweep.base import Base, launch_words
from vramledger.methods.sweep.columns import LATENCIES, RESULTS, SHARES, percentile_column
from vramledger.methods.sweep.evaluate import Evaluator
from vramledger.methods.sweep.point import Point, point_of
from vramledger.methods.sweep.row import Row, Status, Verdict
from vramledger.methods.sweep.settings import changed
from vramledger.simulate.run import NotServed, Simulation, simulate_case
from vramledger.simulate.serving import Serving


def row_of(one: Base, **changes: str) -> Row:
    named = {name.replace("_", "-"): value for name, value in changes.items()}
    return Evaluator(one, "digest").row(point_of(named))


def alone(one: Base, launch: str, **more: Any) -> Simulation:
    """The launch simulated by itself."""
    card = more.pop("card", CARD)
    read = read_launch(launch, version=VERSION)
    case = Case(read, model_of(read), accelerator_for(card), VERSION)
    found = simulate_case(replace(one.question, case=case, **more), quiet)
    assert not isinstance(found, NotServed)
    return found


def agree(row: Row, found: Simulation) -> None:
    for prefix, played in (("own_", found.own), ("no_hits_", found.no_hits)):
        assert played is not None
        answers = played.answers
        assert row.figure("ok", prefix) == answers.requests["ok"]
        assert row.figure("preemptions", prefix) == answers.recomputing.preemptions
        assert row.figure("steps", prefix) == answers.steps
        for name in LATENCIES:
            for share in SHARES:
                value = row.figure(percentile_column(name, share), prefix)
                assert value == getattr(answers.latency[name], share)


@pytest.mark.parametrize(
    ("changes", "launch", "card"),
    [
        ({}, LAUNCH, CARD),
        ({"max_num_seqs": "4"}, f"{LAUNCH} --max-num-seqs 4", CARD),
        ({"tensor_parallel_size": "2"}, f"{LAUNCH} -tp 2", CARD),
        ({"gpu": "L40S"}, LAUNCH, "L40S"),
        ({"kv_cache_dtype": "fp8", "gpu": "L40S"}, f"{LAUNCH} --kv-cache-dtype fp8", "L40S"),
        ({"max_model_len": "4096"}, f"{LAUNCH} --max-model-len 4096", CARD),
        ({"data_parallel_size": "2"}, f"{LAUNCH} --data-parallel-size 2", CARD),
    ],
)
def test_a_point_equals_the_simulation_of_its_launch(
    changes: dict[str, str], launch: str, card: str, tmp_path: Path
) -> None:
    one = base(tmp_path)
    agree(row_of(one, **changes), alone(one, launch, card=card))


def test_parts_of_the_question_are_set_too(tmp_path: Path) -> None:
    one = base(tmp_path)
    agree(row_of(one, replicas="3"), alone(one, LAUNCH, replicas=3))
    agree(row_of(one, rate_scale="4"), alone(scaled(one, 4), LAUNCH))
    routed = Serving(router="least-loaded")
    routed_row = row_of(one, replicas="3", router="least-loaded")
    agree(routed_row, alone(one, LAUNCH, replicas=3, serving=routed))
    agree(row_of(one, closed="7"), alone(one, LAUNCH, serving=Serving(closed=7)))
    evaluator = Evaluator(one, "digest")  # one after another, the workload read anew between them
    agree(evaluator.row(point_of({"rate-scale": "2"})), alone(scaled(one, 2), LAUNCH))
    agree(evaluator.row(Point()), alone(one, LAUNCH))


def test_another_version_and_model_are_other_rules_and_figures(tmp_path: Path) -> None:
    one = base(tmp_path)
    assert row_of(one, engine_version="0.11.0").columns["engine_version"] == "0.11.0"
    other = row_of(one, model="Qwen/Qwen3-4B")
    assert other.columns["model"] == "Qwen/Qwen3-4B"
    assert other.columns["kv_blocks"] > row_of(one).columns["kv_blocks"]


def test_a_switch_goes_on_and_off(tmp_path: Path) -> None:
    one = base(tmp_path)
    assert row_of(one, enable_prefix_caching="true").has_own
    assert not row_of(one, enable_prefix_caching="false").has_own
    eager = changed(one, point_of({"enforce-eager": "true"}))
    assert eager.case.deployment().enforce_eager.value
    again = changed(replace(one, question=eager), point_of({"enforce-eager": "false"}))
    assert not again.case.deployment().enforce_eager.value


def test_the_last_flag_of_a_name_counts_in_the_command(tmp_path: Path) -> None:
    one = base(tmp_path, f"{LAUNCH} -tp 2")
    question = changed(one, point_of({"tensor-parallel-size": "4", "max-num-seqs": "8"}))
    assert launch_words(question.case.launch) == (
        "vllm serve meta-llama/Llama-3.1-8B --max-model-len 8192 --max-num-seqs 8 "
        "--tensor-parallel-size 4"
    )


def test_a_row_has_no_column_that_is_not_documented(tmp_path: Path) -> None:
    found = row_of(base(tmp_path, LAUNCH, "ttft p95 <= 2"))
    assert set(found.columns) <= set(RESULTS.columns)
    never = {name for name, column in RESULTS.columns.items() if not column.null}
    assert all(found.columns[name] is not None for name in never)


def test_points_that_are_not_simulated_are_rows_with_their_reason(tmp_path: Path) -> None:
    one = base(tmp_path)
    small = row_of(one, model="Qwen/Qwen2.5-72B-Instruct")
    assert (small.status, small.columns["gpus"]) == (Status.NO_START, 1)
    assert "Loading the weights fails" in small.columns["reason"]
    odd = row_of(one, tensor_parallel_size="3")
    assert odd.status is Status.REFUSED
    assert "3" in odd.columns["reason"]
    staged = row_of(one, model="Qwen/Qwen2.5-72B-Instruct", scenario="night")
    assert staged.columns["reason"].endswith(".")
    for row in (small, odd, staged):
        assert not row.simulated
        assert row.verdict is None
        assert row.figure("ok") is None


def test_the_verdict_is_that_of_the_contract(tmp_path: Path) -> None:
    kept = row_of(base(tmp_path, LAUNCH, "ttft p95 <= 10s", "success >= 99%"))
    assert kept.verdict is Verdict.PASS
    assert kept.broken == frozenset()
    broken = row_of(base(tmp_path, LAUNCH, "ttft p95 <= 0.001ms", "success >= 99%"))
    assert broken.verdict is Verdict.FAIL
    assert broken.broken == {"ttft_s p95 <= 1e-06"}
    assert row_of(base(tmp_path)).verdict is None
