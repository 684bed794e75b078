"""A point's row is what a simulation of its own launch says."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stored_workloads import request, stored
from swept import CARD, LAUNCH, VERSION, base, quiet, scaled
from vramledger.engine.read import read_launch
from vramledger.errors import BadInput
from vramledger.ledger.case import Case
from vramledger.ledger.question import accelerator_for, model_of
from vramledger.methods.sweep.base import Base, launch_words
from vramledger.methods.sweep.columns import LATENCIES, RESULTS, SHARES, percentile_column
from vramledger.methods.sweep.depth import FULL, Depth, busiest
from vramledger.methods.sweep.evaluate import Evaluator
from vramledger.methods.sweep.point import Point, point_of
from vramledger.methods.sweep.row import Row, Status, Verdict
from vramledger.methods.sweep.settings import canonical_name, changed
from vramledger.simulate.offered import read_offered, with_client_timeout
from vramledger.simulate.run import NotServed, Simulation, simulate_case
from vramledger.simulate.serving import Serving
from vramledger.simulate.split.link import Link
from vramledger.simulate.split.run import Split


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
    off = base(tmp_path, f"{LAUNCH} --no-enable-prefix-caching")
    assert not row_of(off).has_own
    assert row_of(off, enable_prefix_caching="true").has_own
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


def test_what_is_the_base_under_another_spelling_is_not_simulated_again(tmp_path: Path) -> None:
    one = base(tmp_path, f"{LAUNCH} --max-num-seqs 64")
    for changes in (
        {"max_num_seqs": "64"},
        {"enable_prefix_caching": "true"},
        {"tensor_parallel_size": "1"},
        {"rate_scale": "1"},
        {"gpu": "h100-80gb-sxm"},
        {"replicas": "1"},
    ):
        row = row_of(one, **changes)
        assert row.status is Status.SAME, changes
        assert row.columns["reason"] == (
            "Nothing that is simulated differs from the base, whose figures are its own."
        )
        assert (row.columns["tp"], row.columns["gpus"]) == (1, 1)
    for changes in (
        {"max_num_seqs": "63"},
        {"scheduling_policy": "priority"},
        {"long_prefill_token_threshold": "512"},
        {"max_num_partial_prefills": "1", "block_size": "32"},
        {"rate_scale": "1.5"},
        {"router": "least-loaded"},
    ):
        assert row_of(one, **changes).status is not Status.SAME, changes


def test_a_replica_more_is_limited_by_arrivals_and_doubles_the_saturation(tmp_path: Path) -> None:
    one = base(tmp_path, LAUNCH, "ttft p95 <= 10s")
    alone, two = row_of(one), row_of(one, replicas="2")
    assert two.columns["saturation_per_s"] == pytest.approx(2 * alone.columns["saturation_per_s"])
    assert two.columns["saturation_per_gpu_s"] == alone.columns["saturation_per_gpu_s"]
    found = simulate_case(one.question, quiet)
    assert isinstance(found, Simulation)
    assert alone.columns["saturation_per_s"] == found.sanity.capacity.saturation_per_s
    assert not row_of(base(tmp_path, LAUNCH, "ttft p95 <= 0.001ms")).columns["limited_by_arrivals"]
    assert not row_of(one, closed="4").columns["limited_by_arrivals"]


def test_the_highest_load_is_searched_where_it_is_asked(tmp_path: Path) -> None:
    one = base(tmp_path, LAUNCH, "ttft p95 <= 1s")
    row = Evaluator(replace(one, depth=Depth(knee=True)), "digest").row(Point())
    assert row.columns["knee"] == "found"
    assert row.columns["knee_level"] > 1
    assert row.columns["knee_per_s"] > row.columns["arrivals_per_s"]
    slower = scaled(one, row.columns["knee_level"])
    assert row_of(slower).verdict is Verdict.PASS
    never = replace(base(tmp_path, LAUNCH, "ttft p95 <= 0.001ms"), depth=Depth(knee=True))
    failed = Evaluator(never, "digest").row(Point())
    assert failed.columns["knee"] == "nothing holds"
    assert failed.columns["knee_level"] is None


def test_theory_rules_out_what_cannot_be_mended(tmp_path: Path) -> None:
    rows = (
        request(n, arrival_s=n / 100, input_tokens=1200, output_tokens=200) for n in range(6000)
    )
    stored(tmp_path / "w.parquet", rows)
    one = replace(base(tmp_path, LAUNCH, "ttft p95 <= 2s"), depth=Depth(bound=True))
    row = Evaluator(one, "digest").row(Point())
    assert row.status is Status.RULED_OUT
    assert row.columns["reason"].startswith(
        "Theory rules it out: 100 requests arrive a second and at most "
    )
    assert row.figure("ok") is None
    fair = Evaluator(replace(one, depth=FULL), "digest").row(Point())
    assert fair.verdict is Verdict.FAIL
    enough = point_of({"data-parallel-size": "8"})
    assert Evaluator(one, "digest").row(enough).verdict is Verdict.PASS


def test_a_part_of_the_requests_is_those_that_come_fastest(tmp_path: Path) -> None:
    times = [float(n) for n in range(100)] + [100 + n / 10 for n in range(100)]
    rows = (
        request(n, arrival_s=at, input_tokens=64, output_tokens=4, prefix_blocks=[n, n + 1])
        for n, at in enumerate(times)
    )
    stored(tmp_path / "w.parquet", rows)
    whole = read_offered(tmp_path / "w.parquet")
    part = busiest(whole, 0.25)
    assert len(part) == 50
    assert part.due_ns[0] == 0
    assert part.due_ns[-1] == 4_900_000_000
    assert part.row[0] >= 100
    first = int(part.row[0])
    assert list(part.prefix_ends) == [2 * (n + 1) for n in range(50)]
    assert list(part.prefix) == list(whole.prefix[2 * first : 2 * first + 100])
    assert busiest(whole, 1.0) is whole
    leaving = busiest(with_client_timeout(whole, 5.0), 0.25)
    assert leaving.times_out is not None
    assert len(leaving.times_out) == 50


def test_settings_beside_the_launch_are_refused_in_a_sentence(tmp_path: Path) -> None:
    one = base(tmp_path)
    with pytest.raises(BadInput, match="acceptance has the value 2; it is a share of the drafts"):
        changed(one, point_of({"acceptance": "2"}))
    with pytest.raises(BadInput, match="prefill-servers=2 has no link to its decode servers"):
        changed(one, point_of({"prefill-servers": "2"}))
    with pytest.raises(BadInput, match="--set workload cannot be set: a sweep has one workload"):
        canonical_name("workload", one)
    with pytest.raises(BadInput, match="closed sends a request when another ends"):
        changed(one, point_of({"closed": "4", "rate-scale": "2"}))
    split = Serving(split=Split(1, Link(1e9)))
    served = replace(one, question=replace(one.question, serving=split))
    two = changed(served, point_of({"prefill-servers": "2"})).serving.split
    assert two is not None
    assert two.prefill == 2
    assert changed(served, point_of({"prefill-servers": "0"})).serving.split is None
