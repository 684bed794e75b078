"""Tensor-parallel steps: what they do on a link, where their sign changes, and whether theory is right."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from stored_workloads import request, stored
from swept import LAUNCH, base, quiet
from vramledger.methods.sweep.base import Base
from vramledger.methods.sweep.grid import axes_of, grid
from vramledger.methods.sweep.local import LocalWorkers
from vramledger.methods.sweep.point import point_of
from vramledger.methods.sweep.run import Sweep
from vramledger.methods.sweep.settings import changed
from vramledger.methods.sweep.tensor_steps import (
    ALONE,
    FASTEST,
    LOADED,
    SATURATION,
    SLOWEST,
    TensorStep,
    tensor_steps,
)
from vramledger.simulate.run import Simulation, simulate_case
from vramledger.simulate.timing.closed_loop import Load
from vramledger.simulate.timing.coefficients import shipped
from vramledger.simulate.timing.outlook import Prepared, closed_form, prepare


def steps_of(one: Base, *settings: str) -> tuple[TensorStep, ...]:
    with Sweep(one, LocalWorkers(1)) as sweep:
        rows = sweep.play(grid(axes_of(settings, one)), quiet).rows
    return tensor_steps(one, rows)


def test_every_step_between_neighbouring_splits_is_told(tmp_path: Path) -> None:
    found = steps_of(base(tmp_path), "tp=2,8", "gpu=H100-80GB-SXM,L40S")
    assert [(step.label, step.before, step.after, step.gpu) for step in found] == [
        ("gpu=H100-80GB-SXM", 2, 8, "H100-80GB-SXM"),
        ("gpu=L40S", 2, 8, "L40S"),
    ]
    alone = steps_of(base(tmp_path), "tp=2,4")
    assert [(step.label, step.before, step.after) for step in alone] == [("", 1, 2), ("", 2, 4)]


def test_the_link_is_that_of_the_card(tmp_path: Path) -> None:
    (fast,) = steps_of(base(tmp_path), "tp=2")
    (slow,) = steps_of(base(tmp_path, card="L40S"), "tp=2")
    assert fast.link is not None
    assert slow.link is not None
    assert (fast.link.pcie, fast.link.bytes_per_s) == (False, 450e9)
    assert (slow.link.pcie, slow.link.bytes_per_s) == (True, 32e9)


def over(one: Prepared, rate: float) -> Prepared:
    link = replace(one.work.tensor_link, bytes_per_s=rate)
    return one if link.ranks == 1 else replace(one, work=replace(one.work, tensor_link=link))


@pytest.mark.parametrize("card", ["L40S", "H100-80GB-SXM"])
def test_a_sign_changes_at_the_bandwidth_where_both_sides_are_equal(
    card: str, tmp_path: Path
) -> None:
    one = base(tmp_path, card=card)
    steps = steps_of(one, "tp=2,4")
    means = means_of(one)
    turned = 0
    for step in steps:
        sides = [
            prepare(changed(one, point_of({"tensor-parallel-size": str(split)})).case.deployment())
            for split in (step.before, step.after)
        ]
        (turn,) = (turn for turn in step.turns if turn.name == ALONE)
        for rate in turn.at:
            turned += 1
            assert SLOWEST < rate < FASTEST
            before, after = (ttft(over(side, rate), *means) for side in sides)
            assert after == pytest.approx(before, rel=1e-4)
        places = (SLOWEST, *turn.at, FASTEST)
        signs = []
        for low, high in pairwise(places):
            middle = (low * high) ** 0.5
            before, after = (ttft(over(side, middle), *means) for side in sides)
            signs.append(after > before)
        assert signs[-1] == turn.rises_above
        assert all(a != b for a, b in pairwise(signs))
    assert turned


def ttft(one: Prepared, prompt: float, output: float) -> float:
    return closed_form(one, Load(prompt, output, 1.0), shipped().coefficients).waits.total


def means_of(one: Base) -> tuple[float, float]:
    with Sweep(one, LocalWorkers(1)) as sweep:
        row = sweep.play((point_of({}),), quiet).rows[0]
    return row.columns["input_tokens_mean"], row.columns["output_tokens_mean"]


@pytest.mark.parametrize(
    ("launch", "card"),
    [
        (LAUNCH, "H100-80GB-SXM"),
        (f"{LAUNCH} -tp 2", "L40S"),
        ("vllm serve Qwen/Qwen3-32B --max-model-len 8192 -tp 2", "H100-80GB-SXM"),
    ],
)
def test_the_saturation_of_theory_is_that_of_a_simulation(
    launch: str, card: str, tmp_path: Path
) -> None:
    """Three thousand equal requests, all there at once: the first and the last tenth weigh little.

    Theory counts nothing computed twice, and a full pool preempts: it lies above, by up to a fifth.
    """
    rows = (request(n, arrival_s=0.0, input_tokens=1200, output_tokens=200) for n in range(3000))
    stored(tmp_path / "w.parquet", rows)
    one = base(tmp_path, launch, card=card)
    splits = [2, 4] if "-tp 2" in launch else [1, 2]
    with Sweep(one, LocalWorkers(1)) as sweep:
        points = (point_of({}), point_of({"tensor-parallel-size": str(splits[1])}))
        results = sweep.play(points, quiet).rows
    (step,) = tensor_steps(one, results)
    (turn,) = (turn for turn in step.turns if turn.name == SATURATION)
    for row, said in zip(results, (turn.before, turn.after), strict=True):
        of_server = row.figure("ok_per_gpu_hour") / 3600 * step.server_gpus
        assert of_server < said < 1.2 * of_server


def test_a_split_that_does_not_start_is_told_with_its_reason(tmp_path: Path) -> None:
    one = base(tmp_path, "vllm serve Qwen/Qwen2.5-72B-Instruct --max-model-len 8192 -tp 4")
    first, second = steps_of(one, "tp=1,2,4")[:2]
    assert (first.before, first.after, first.turns) == (1, 2, ())
    assert "Loading the weights fails" in first.reason
    assert first.reason.endswith(".")
    assert second.before == 2


def test_the_three_figures_are_told_of_every_step(tmp_path: Path) -> None:
    (step,) = steps_of(base(tmp_path), "tp=2")
    assert [turn.name for turn in step.turns] == [SATURATION, ALONE, LOADED]
    assert step.server_gpus == 8
    assert step.in_flight > 1


def test_an_engine_has_the_saturation_that_stands_beside_its_simulation(tmp_path: Path) -> None:
    one = base(tmp_path)
    (step,) = steps_of(one, "tp=2")
    assert step.end == "low"
    (turn,) = (turn for turn in step.turns if turn.name == SATURATION)
    assert turn.engines == (8, 4)
    for split, said in zip((1, 2), turn.of_an_engine, strict=True):
        question = changed(one, point_of({"tensor-parallel-size": str(split)}))
        alone = simulate_case(question, quiet)
        assert isinstance(alone, Simulation)
        assert said == pytest.approx(alone.sanity.capacity.saturation_per_s, rel=1e-9)


def test_the_pool_is_at_the_end_of_the_question(tmp_path: Path) -> None:
    one = base(tmp_path, "vllm serve meta-llama/Llama-3.1-8B --max-model-len 2048", card="L4")
    question = replace(one.question, end="expected")
    (low,), (expected,) = steps_of(one, "tp=2"), steps_of(replace(one, question=question), "tp=2")
    assert expected.end == "expected"
    assert expected.in_flight > low.in_flight
