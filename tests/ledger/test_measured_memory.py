"""Memory that a start measured: where it counts, what is left then, and what a damaged file is told."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vramledger.engine.read import read_launch
from vramledger.errors import BadInput
from vramledger.evidence import Basis, Figure
from vramledger.hardware.catalogue import find
from vramledger.ledger.calibration_file import SCHEMA, memory_json, read_memory
from vramledger.ledger.case import Case
from vramledger.ledger.measured_memory import MeasuredMemory, circumstances_of, differences
from vramledger.model.load import load_model

LAUNCH = "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 8192"
MODEL = load_model("meta-llama/Llama-3.1-8B-Instruct")


def case(launch: str = LAUNCH, version: str = "0.33.0", gpu: str = "H100-80GB-SXM") -> Case:
    return Case(read_launch(launch), MODEL, find(gpu), version)


def measured(of: Case, **rows: float) -> MeasuredMemory:
    figures = {name: Figure(gib, gib, gib, Basis.MEASURED, "a log") for name, gib in rows.items()}
    return MeasuredMemory("memory.json", circumstances_of(of.deployment()), figures)


def left(of: Case) -> float:
    return of.ledger().ranks[0].row("kv_cache").value


@settings(max_examples=20, deadline=None)
@given(st.floats(0, 5), st.floats(0, 5), st.floats(0, 5))
def test_the_pool_gets_what_the_measured_rows_leave(
    activation: float, non_torch: float, graphs: float
) -> None:
    plain = case()
    memory = measured(plain, activation=activation, non_torch=non_torch, cuda_graph=graphs)
    rank = replace(plain, memory=memory).ledger().ranks[0]
    inside = sum(row.figure.value for row in rank.rows if row.in_budget)
    assert inside == pytest.approx(rank.budget.value)
    assert rank.row("activation").value == activation
    deducted = plain.ledger().ranks[0]
    estimate = sum(r.figure.value for r in deducted.rows if r.key == "cuda_graph" and r.in_budget)
    taken = [row.figure.value for row in rank.rows if row.key == "cuda_graph"]
    assert sum(taken) == pytest.approx(max(graphs, estimate))  # the deduction stays
    before = deducted.row("activation").value + deducted.row("non_torch").value
    assert left(replace(plain, memory=memory)) == pytest.approx(
        left(plain) + before - activation - non_torch
    )


@pytest.mark.parametrize(
    "other",
    [
        case(f"{LAUNCH} --max-num-seqs 64"),
        case(f"{LAUNCH} -tp 2"),
        case(f"{LAUNCH} --kv-cache-dtype fp8"),
        case(f"{LAUNCH} --enforce-eager"),
        case(version="0.32.0"),
        case(gpu="H200-141GB-SXM"),
        replace(case(), neighbours_gib=3.0),
    ],
)
def test_what_was_measured_elsewhere_changes_nothing(other: Case) -> None:
    memory = measured(case(), activation=4.0, non_torch=2.0)
    assert differences(memory, other.deployment())
    assert left(replace(other, memory=memory)) == left(other)


@pytest.mark.parametrize(
    "same", [f"{LAUNCH} --gpu-memory-utilization 0.8", f"{LAUNCH} --port 8001"]
)
def test_what_the_rows_do_not_depend_on_may_differ(same: str) -> None:
    memory = measured(case(), activation=4.0)
    assert not differences(memory, case(same).deployment())


def test_more_than_the_card_has_is_refused() -> None:
    memory = measured(case(), activation=90.0)
    with pytest.raises(
        BadInput, match=r"memory.json says that 10\d.\d\d GiB were taken on a GPU of"
    ):
        replace(case(), memory=memory).ledger()


def written(path: Path, part: Any) -> Path:
    path.write_text(json.dumps({"schema": SCHEMA, "memory": part}))
    return path


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    memory = measured(case(), activation=1.5, cuda_graph=0.4)
    found = read_memory(written(tmp_path / "memory.json", memory_json(memory)))
    assert found.circumstances == memory.circumstances
    assert {name: figure.value for name, figure in found.rows.items()} == {
        "activation": 1.5, "cuda_graph": 0.4,
    }  # fmt: skip
    activation = found.rows["activation"]
    assert (activation.low, activation.high) == (1.495, 1.505)  # two digits are printed


GOOD = {"value": 1.0, "low": 1.0, "high": 1.0}


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ({"circumstances": {}, "rows": {"weights": GOOD}}, "is damaged near the rows weights; "),
        ({"circumstances": {}, "rows": {}}, "is damaged near its memory rows; "),
        (
            {"circumstances": {}, "rows": {"activation": GOOD | {"value": -1.0}}},
            "is damaged near 1..-1..1 GiB; ",
        ),
        (
            {"circumstances": {}, "rows": {"activation": GOOD | {"high": float("inf")}}},
            "is damaged near 1..1..inf GiB; ",
        ),
        ({"circumstances": {}, "rows": {"activation": {"value": 1}}}, "is damaged near 'low'; "),
        ({"circumstances": [], "rows": {}}, "is damaged near "),
        ([1], "is damaged near "),
        (None, "is a calibration of step times alone and has no memory rows; "),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, part: Any, said: str) -> None:
    file = written(tmp_path / "memory.json", part)
    with pytest.raises(BadInput) as caught:
        read_memory(file)
    assert str(caught.value).startswith(f"{file} {said}")
