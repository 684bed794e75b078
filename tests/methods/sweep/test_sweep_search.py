"""The search against plain enumeration on invented figures, and the trials that it names."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hunted import FEWEST, found_by, resolved, server
from stored_workloads import chats, stored
from swept import LAUNCH, Inventing, base, quiet
from vramledger.errors import UnknownName
from vramledger.methods.sweep.candidates import Bounds, Home, waves
from vramledger.methods.sweep.compare import searched
from vramledger.methods.sweep.grid import Axis
from vramledger.methods.sweep.local import LocalWorkers
from vramledger.methods.sweep.objective import OBJECTIVES, objective_of
from vramledger.methods.sweep.point import Point, point_of
from vramledger.methods.sweep.prices import Prices
from vramledger.methods.sweep.row import Row
from vramledger.methods.sweep.run import Sweep
from vramledger.methods.sweep.search import search
from vramledger.methods.sweep.trials import distance, trials

PER_GPU = OBJECTIVES["goodput-per-gpu"]


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    best_seqs=st.sampled_from([32, 64, 128, 256, 512, 1024]),
    best_tokens=st.sampled_from([512, 1024, 2048, 4096, 8192]),
    need=st.floats(0.2, 9),
)
def test_the_search_finds_what_enumeration_finds(
    tmp_path: Path, best_seqs: int, best_tokens: int, need: float
) -> None:
    figures = server(best_seqs, best_tokens, need)
    found, asked = found_by(figures, tmp_path)
    everything = (
        point_of({
            "tensor-parallel-size": str(tp), "data-parallel-size": str(dp), "kv-cache-dtype": kv,
            "max-num-seqs": str(seqs), "max-num-batched-tokens": str(tokens),
        })
        for tp in (1, 2, 4, 8) for dp in range(1, 8 // tp + 1) for kv in ("auto", "fp8")
        for seqs in (16, 32, 64, 128, 256, 512, 1024, 2048)
        for tokens in (256, 512, 1024, 2048, 4096, 8192, 16384)
    )  # fmt: skip
    rows = [figures(point) for point in everything]
    plain = [row for row in rows if row["kv_cache_dtype"] == "auto"]
    fewest, fewest_small = fewest_of(plain), fewest_of(rows)
    assert found.best is not None
    assert found.best.columns["kv_cache_dtype"] == "auto"
    if fewest is not None:
        assert found.best.verdict == "PASS"
        assert found.best.columns["gpus"] == fewest
    else:
        most = max(row["no_hits_goodput_per_hour"] for row in plain)
        assert found.best.figure("goodput_per_hour") == pytest.approx(most, rel=0.011)
    if fewest_small is not None and (fewest is None or fewest_small < fewest):
        assert found.best_owing is not None
        assert found.best_owing.columns["gpus"] == fewest_small
    assert len(asked) == len(set(asked)) < 200


def fewest_of(rows: list[dict[str, Any]]) -> int | None:
    """The fewest GPUs that keep the contract."""
    return min((row["gpus"] for row in rows if row["verdict"] == "PASS"), default=None)


def test_the_coarse_grid_has_the_layouts_within_the_gpus() -> None:
    home = Home(tensor=2, data=1, each=1, small_cache=False)
    found = waves(Bounds.of(6, ()), home)
    layouts = {
        (point.value("tensor-parallel-size") or "2", point.value("data-parallel-size") or "1")
        for wave in found
        for point in wave.points
    }
    assert layouts == {
        ("1", "1"), ("1", "2"), ("1", "4"), ("1", "6"), ("2", "1"), ("2", "2"), ("2", "3"), ("4", "1"),
    }  # fmt: skip
    assert [wave.gpus for wave in found] == [1, 2, 4, 6]
    assert Point() in found[1].points


def test_replicas_and_stages_of_the_base_count_among_the_gpus() -> None:
    start = Row(Point(), {"tp": 2, "dp": 1, "gpus": 8, "kv_cache_dtype": "fp8_e4m3"})
    home = Home.of(start)
    assert (home.each, home.small_cache) == (4, True)
    found = waves(Bounds.of(8, ()), home)
    assert [wave.gpus for wave in found] == [4, 8]
    assert all(point.value("kv-cache-dtype") is None for wave in found for point in wave.points)


def test_more_than_twice_the_gpus_that_hold_are_not_tried(tmp_path: Path) -> None:
    _, asked = found_by(server(256, 2048, 0.8), tmp_path)
    most = max(resolved(point)["tp"] * resolved(point)["dp"] for point in asked)
    assert most == 2


def test_equals_are_decided_by_the_fewest_changes_and_told(tmp_path: Path) -> None:
    plain = server(256, 2048, 1.8)

    def nearly(point: Point) -> dict[str, Any]:
        """A deeper split is better by less than a simulation tells."""
        row = plain(point)
        better = 1 + 0.005 * (row["tp"] > 1)
        return {**row, "no_hits_goodput_per_hour": row["no_hits_goodput_per_hour"] * better}

    found, _ = found_by(nearly, tmp_path)
    assert found.best is not None
    assert found.best.point == point_of({"data-parallel-size": "2"})
    winner = next(one for one in found.winners if one.row is found.best)
    assert [row.point.label for row in winner.ties] == []  # tp=2 holds 1.74 only
    loose, _ = found_by(server(256, 2048, 1.7), tmp_path)
    winner = next(one for one in loose.winners if one.row is loose.best)
    assert "tensor-parallel-size=2" in [row.point.label for row in winner.ties]


def test_a_price_decides_between_cards(tmp_path: Path) -> None:
    plain = server(256, 2048, 1.8)

    def by_card(point: Point) -> dict[str, Any]:
        card = point.value("gpu") or "H100-80GB-SXM"
        return {**plain(point), "gpu": card}

    bounds = Bounds.of(4, (Axis("gpu", ("H100-80GB-SXM", "L40S")),))
    prices = Prices({"H100-80GB-SXM": 2.0, "L40S": 0.5}, "USD")
    found, _ = found_by(by_card, tmp_path, bounds, prices=prices)
    assert found.best is not None
    assert found.best.columns["gpu"] == "L40S"
    costs = {(one.row.columns["gpu"], one.row.columns["gpus"]): one.cost for one in found.winners}
    assert costs["H100-80GB-SXM", 2] == 4.0
    assert costs["L40S", 2] == 1.0


def test_a_smaller_cache_is_never_the_best_but_told_beside_it(tmp_path: Path) -> None:
    found, _ = found_by(server(256, 2048, 1.2), tmp_path)
    assert found.best is not None
    assert found.best_owing is not None
    assert found.best.columns["kv_cache_dtype"] == "auto"
    assert (found.best.columns["gpus"], found.best_owing.columns["gpus"]) == (2, 1)
    one = base(tmp_path, LAUNCH, "ttft p95 <= 2")
    assert [trial.row for trial in trials(one, found)][:2] == [found.best, found.best_owing]


def test_a_large_workload_is_screened_on_its_busiest_quarter(tmp_path: Path) -> None:
    stored(tmp_path / "w.parquet", chats(2000, span_s=200))
    one = base(tmp_path, LAUNCH, "ttft p95 <= 1s")
    bounds = Bounds.of(2, (Axis("kv-cache-dtype", ("auto",)),))
    with Sweep(one, LocalWorkers(1)) as sweep:
        found = search(sweep, bounds, FEWEST, quiet)
    assert found.share == 0.25
    screened = [row for row in found.screened if row.simulated]
    assert {row.figure("offered") for row in screened} == {2000}
    assert {row.figure("offered") for row in found.ranking} == {8000}
    assert found.best is not None
    assert found.best.verdict == "PASS"


def test_values_that_are_given_replace_those_of_the_search(tmp_path: Path) -> None:
    axes = (
        Axis("kv-cache-dtype", ("auto",)),
        Axis("max-num-seqs", ("64", "96")),
        Axis("gpu", ("L4", "L40S")),
    )
    bounds = Bounds.of(2, axes)
    _, asked = found_by(server(512, 2048, 0.9), tmp_path, bounds)
    seen = [point for point in asked if point.changes]
    assert {point.value("kv-cache-dtype") for point in seen} == {"auto"}
    assert {point.value("max-num-seqs") for point in seen} == {"64", "96"}
    assert {point.value("gpu") for point in seen} == {"L4", "L40S"}
    assert len({point.value("max-num-batched-tokens") for point in seen}) > 1


def test_settings_that_are_the_default_are_not_tried_again(tmp_path: Path) -> None:
    _, asked = found_by(server(64, 8192, 3.0), tmp_path)
    settings_of = [tuple(resolved(point).items()) for point in asked if point.changes]
    assert len(settings_of) == len(set(settings_of))


def test_the_other_objective_is_goodput_per_gpu(tmp_path: Path) -> None:
    found, _ = found_by(server(256, 2048, 5.0), tmp_path, objective=PER_GPU)
    assert found.best is not None
    assert found.best_owing is not None
    most = max(row.figure("goodput_per_gpu_hour") for row in found.ranking)
    assert found.best_owing.figure("goodput_per_gpu_hour") == pytest.approx(most, rel=0.011)
    with pytest.raises(UnknownName, match="Unknown objective 'gpu' in --objective; the nearest"):
        objective_of("gpu")


def test_an_interruption_ends_the_search_with_what_is_known(tmp_path: Path) -> None:
    plain, seen = server(64, 8192, 3.0), []

    def tired(point: Point) -> dict[str, Any]:
        seen.append(point)
        if len(seen) > 9:
            raise KeyboardInterrupt
        return plain(point)

    found, _ = found_by(tired, tmp_path)
    assert found.results.interrupted
    assert len(found.ranking) == 9
    assert found.best is not None


def test_the_trials_are_the_best_its_most_different_rival_and_the_base(tmp_path: Path) -> None:
    found, _ = found_by(server(64, 8192, 3.0), tmp_path)
    one = base(tmp_path, LAUNCH, "ttft p95 <= 2")
    best, rival, start = trials(one, found)
    assert (best.role, rival.role, start.role) == ("best", "runner-up", "base")
    assert best.row is found.best
    assert start.row.point == Point()
    assert rival.row.verdict == best.row.verdict
    assert rival.row.columns["gpus"] <= 1.25 * best.row.columns["gpus"]
    rivals = [
        row
        for row in found.ranking
        if row not in (best.row, start.row, found.best_owing)
        and row.verdict == best.row.verdict
        and row.columns["gpus"] <= 1.25 * best.row.columns["gpus"]
        and row.figure("goodput_per_gpu_hour") * 1.25 >= best.row.figure("goodput_per_gpu_hour")
    ]
    if found.best_owing is not None:
        assert rival.row is found.best_owing
    else:
        assert distance(rival.row, best.row) == max(distance(row, best.row) for row in rivals)
    assert best.differences == ()
    assert {one.name for one in start.differences} >= {"DP"}
    assert start.command == "vllm serve meta-llama/Llama-3.1-8B --max-model-len 8192"
    assert "--data-parallel-size" in best.command


def test_without_a_smaller_cache_the_most_different_rival_is_tried(tmp_path: Path) -> None:
    bounds = Bounds.of(4, (Axis("kv-cache-dtype", ("auto",)),))
    found, _ = found_by(server(256, 2048, 1.7), tmp_path, bounds)
    best, rival, _ = trials(base(tmp_path, LAUNCH, "ttft p95 <= 2"), found)
    assert best.row.point == point_of({"data-parallel-size": "2", "kv-cache-dtype": "auto"})
    assert rival.row.point == point_of({"tensor-parallel-size": "2", "kv-cache-dtype": "auto"})


def test_where_the_base_is_best_only_rivals_stand_beside_it(tmp_path: Path) -> None:
    def flat(point: Point) -> dict[str, Any]:
        return {**server(256, 2048, 0.5)(point), "gpus": 1, "no_hits_e2e_p95_s": 1.0}

    found, _ = found_by(flat, tmp_path, Bounds.of(1, ()))
    assert found.best is not None
    assert found.best.point == Point()
    roles = [one.role for one in trials(base(tmp_path), found)]
    assert roles == ["best", "runner-up"]  # there is no other layout on one GPU than the FP8 cache


def test_a_real_search_ends_at_settings_that_keep_the_contract(tmp_path: Path) -> None:
    one = base(tmp_path, LAUNCH, "tpot p95 <= 7ms")
    bounds = Bounds.of(4, (Axis("kv-cache-dtype", ("auto",)),))
    with Sweep(one, LocalWorkers(1)) as sweep:
        found = searched(one, search(sweep, bounds, FEWEST, quiet))
    assert found.found is not None
    best = found.found.best
    assert best is not None
    assert best.verdict == "PASS"
    fewer = [
        row for row in found.rows if row.simulated and row.columns["gpus"] < best.columns["gpus"]
    ]
    assert fewer
    assert all(row.verdict == "FAIL" for row in fewer)
    assert len(found.trials) == 3
    assert [step.before for step in found.tensor_steps] == [1, 2]


def test_of_equals_the_one_with_the_higher_load_wins(tmp_path: Path) -> None:
    """Two engines hold half as much again as one that is split; without loads the order is by changes."""
    plain = server(256, 2048, 1.7)

    def loaded(point: Point) -> dict[str, Any]:
        split = point.value("tensor-parallel-size") == "2"
        return {**plain(point), "knee": "found", "knee_per_s": 20.0 if split else 30.0}

    def other(point: Point) -> dict[str, Any]:
        row = loaded(point)
        return {**row, "knee_per_s": 50.0 - row["knee_per_s"]}

    bounds = Bounds.of(2, (Axis("kv-cache-dtype", ("auto",)),))
    for figures, name in ((loaded, "data-parallel-size"), (other, "tensor-parallel-size")):
        with Sweep(base(tmp_path, LAUNCH, "ttft p95 <= 2"), Inventing(figures)) as sweep:
            found = search(sweep, bounds, FEWEST, quiet, knee=True)
        assert found.best is not None
        assert found.best.point.value(name) == "2"
