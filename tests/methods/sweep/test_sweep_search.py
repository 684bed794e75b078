"""The search against plain enumeration on invented figures, and the trials that it names."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swept import LAUNCH, Inventing, base, quiet
from vramledger.errors import UnknownName
from vramledger.methods.sweep.compare import searched
from vramledger.methods.sweep.grid import Axis
from vramledger.methods.sweep.local import LocalWorkers
from vramledger.methods.sweep.objective import OBJECTIVES, objective_of
from vramledger.methods.sweep.point import Point, point_of
from vramledger.methods.sweep.run import Sweep
from vramledger.methods.sweep.search import Bounds, Found, coarse, search
from vramledger.methods.sweep.trials import distance, trials

FEWEST, PER_GPU = OBJECTIVES["gpus"], OBJECTIVES["goodput-per-gpu"]
GRID = Bounds.of(8, ())


def resolved(point: Point) -> dict[str, Any]:
    """A point after every default of the invented engine: 256 sequences, 2,048 tokens."""
    return {
        "tp": int(point.value("tensor-parallel-size") or 1),
        "dp": int(point.value("data-parallel-size") or 1),
        "kv_cache_dtype": point.value("kv-cache-dtype") or "auto",
        "max_num_seqs": int(point.value("max-num-seqs") or 256),
        "max_num_batched_tokens": int(point.value("max-num-batched-tokens") or 2048),
        "model": "m",
        "gpu": "g",
        "engine_version": "0.32",
        "replicas": 1,
    }


def server(best_seqs: int, best_tokens: int, need: float) -> Callable[[Point], dict[str, Any]]:
    """A server with one peak of capacity over each setting, that keeps the contract with enough of it."""

    def figures(point: Point) -> dict[str, Any]:
        row = resolved(point)
        off = abs(row["max_num_seqs"].bit_length() - best_seqs.bit_length())
        off += abs(row["max_num_batched_tokens"].bit_length() - best_tokens.bit_length())
        each = row["tp"] ** 0.8 * (1.3 if row["kv_cache_dtype"] == "fp8" else 1.0) * 0.9**off
        capacity = row["dp"] * each
        gpus = row["tp"] * row["dp"]
        good = 1000 * min(capacity / need, 1.0)
        return {
            **row,
            "gpus": gpus,
            "verdict": "PASS" if capacity >= need else "FAIL",
            "no_hits_goodput_per_hour": good,
            "no_hits_goodput_per_gpu_hour": good / gpus,
            "no_hits_e2e_p95_s": 1 / capacity,
            "no_hits_ttft_p95_s": 0.5,
        }

    return figures


def found_by(
    figures: Callable[[Point], dict[str, Any]], folder: Path, bounds: Bounds = GRID, **more: Any
) -> tuple[Found, list[Point]]:
    workers = Inventing(figures)
    with Sweep(base(folder, LAUNCH, "ttft p95 <= 2"), workers) as sweep:
        return search(sweep, bounds, more.get("objective", FEWEST), quiet), workers.asked


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
    passing = [row["gpus"] for row in rows if row["verdict"] == "PASS"]
    assert found.best is not None
    if passing:
        assert found.best.verdict == "PASS"
        assert found.best.columns["gpus"] == min(passing)
    else:
        most = max(row["no_hits_goodput_per_hour"] for row in rows)
        assert found.best.figure("goodput_per_hour") == pytest.approx(most, rel=0.005)
    assert len(asked) == len(set(asked)) < 150


def test_the_coarse_grid_has_the_layouts_within_the_gpus() -> None:
    layouts = {
        (point.value("tensor-parallel-size"), point.value("data-parallel-size"))
        for point in coarse(Bounds.of(6, ()))
    }
    assert layouts == {
        ("1", "1"), ("1", "2"), ("1", "4"), ("1", "6"), ("2", "1"), ("2", "2"), ("2", "3"), ("4", "1"),
    }  # fmt: skip


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
    most = max(row.figure("goodput_per_gpu_hour") for row in found.ranking)
    assert found.best.figure("goodput_per_gpu_hour") == pytest.approx(most, rel=0.005)
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
        if row not in (best.row, start.row)
        and row.verdict == best.row.verdict
        and row.columns["gpus"] <= 1.25 * best.row.columns["gpus"]
        and row.figure("goodput_per_gpu_hour") * 1.25 >= best.row.figure("goodput_per_gpu_hour")
    ]
    assert distance(rival.row, best.row) == max(distance(row, best.row) for row in rivals)
    assert best.differences == ()
    assert {one.name for one in start.differences} >= {"DP"}
    assert start.command == "vllm serve meta-llama/Llama-3.1-8B --max-model-len 8192"
    assert "--data-parallel-size" in best.command


def test_where_the_base_is_best_two_rivals_stand_beside_it(tmp_path: Path) -> None:
    def flat(point: Point) -> dict[str, Any]:
        return {**server(256, 2048, 0.5)(point), "gpus": 1, "no_hits_e2e_p95_s": 1.0}

    found, _ = found_by(flat, tmp_path, Bounds.of(1, ()))
    assert found.best is not None
    assert found.best.point == Point()
    roles = [one.role for one in trials(base(tmp_path), found)]
    assert roles == ["best", "runner-up", "runner-up"]


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
