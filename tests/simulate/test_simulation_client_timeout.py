"""Clients with a limit of time: whose requests end as timed out, and count as failed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stored_workloads import request, stored
from vramledger.engine.read import read_launch
from vramledger.hardware.catalogue import find
from vramledger.ledger.case import Case
from vramledger.model.load import load_model
from vramledger.plan.requirement import Contract
from vramledger.simulate.offered import ABSENT, Offered, read_offered, with_client_timeout
from vramledger.simulate.policies import POLICIES
from vramledger.simulate.run import Question, Simulation, simulate_case
from vramledger.simulate.serving import Serving
from vramledger.workload.operators.prepared import Part

MODEL = "meta-llama/Llama-3.1-8B"
ENDINGS: tuple[dict[str, Any], ...] = (
    {"outcome": "ok"},
    {"outcome": "ok", "duration_s": 3.0},
    {"outcome": "cancelled", "cancel_after_s": 2.0, "duration_s": 2.0},
    {"outcome": "timed_out", "cancel_after_s": 30.0, "duration_s": 31.0},
    {"outcome": "timed_out", "duration_s": 60.0},
    {"outcome": "timed_out"},
)


def offered(folder: Path) -> Offered:
    rows = [
        request(row, arrival_s=float(row), input_tokens=100, output_tokens=2000, **ending)
        for row, ending in enumerate(ENDINGS)
    ]
    return read_offered(stored(folder / "w.parquet", rows))


def simulated(folder: Path, flags: str = "", **asked: Any) -> Simulation:
    offered(folder)
    launch = read_launch(f"vllm serve {MODEL} --max-model-len 8192 {flags}")
    case = Case(launch, load_model(MODEL), find("H100-80GB-SXM", "test"), "0.18.0")
    part = Part(folder / "w.parquet")
    found = simulate_case(Question(case, part, **asked), lambda _done, _all: None)
    assert isinstance(found, Simulation)
    return found


def test_a_limit_in_the_log_is_its_cancellation_or_as_long_as_it_lasted(tmp_path: Path) -> None:
    found = offered(tmp_path)
    seconds = np.where(found.cancel_after_ns == ABSENT, np.nan, found.cancel_after_ns / 1e9)
    assert np.array_equal(seconds, [np.nan, np.nan, 2, 30, 60, np.nan], equal_nan=True)
    assert found.times_out is not None
    assert found.times_out.tolist() == [False, False, False, True, True, False]


def test_a_limit_of_ours_ends_what_would_not_end_before(tmp_path: Path) -> None:
    found = with_client_timeout(offered(tmp_path), 10)
    assert (found.cancel_after_ns / 1e9).tolist() == [10, 10, 2, 10, 10, 10]
    assert found.times_out is not None
    assert found.times_out.tolist() == [True, True, False, True, True, True]
    same = offered(tmp_path)
    assert with_client_timeout(same, None) is same


@pytest.mark.parametrize("policy", POLICIES)
def test_who_reaches_the_limit_leaves_then_and_has_timed_out(tmp_path: Path, policy: str) -> None:
    found = simulated(tmp_path, policy=policy, client_timeout_s=10.0).main
    assert found.answers.requests == {
        "offered": 6, "ok": 0, "failed": 0, "rejected": 0, "cancelled": 1, "timed_out": 5,
        "incomplete": 0,
    }  # fmt: skip
    stayed = found.figures.columns["done_s"] - found.figures.columns["due_s"]
    assert stayed == pytest.approx([10, 10, 2, 10, 10, 10])
    assert np.isinf(found.figures.latency["ttft_s"][[0, 1, 3, 4, 5]]).all()
    assert not found.answers.served_anybody


@pytest.mark.parametrize(
    "asked",
    [
        {"replicas": 2, "serving": Serving(router="least-loaded")},
        {"serving": Serving(closed=6)},
    ],
)
def test_engines_that_depend_on_each_other_have_the_same_limit(
    tmp_path: Path, asked: dict[str, Any]
) -> None:
    found = simulated(tmp_path, client_timeout_s=10.0, **asked).main.answers
    assert (found.requests["timed_out"], found.requests["cancelled"]) == (5, 1)


def test_an_engine_of_pipeline_stages_has_the_limit_too(tmp_path: Path) -> None:
    found = simulated(tmp_path, "-pp 2", client_timeout_s=10.0).main.answers
    assert found.compiled
    assert (found.requests["timed_out"], found.requests["cancelled"]) == (5, 1)


def test_a_time_out_counts_against_success_and_a_note_says_so(tmp_path: Path) -> None:
    found = simulated(tmp_path, client_timeout_s=10.0, contract=Contract(success=0.5))
    (line,) = found.main.answers.lines
    assert (line.found, line.holds) == ("0.00%", False)
    assert (
        "5 requests are timed out: the client leaves when its limit is reached, and the request counts as "
        "failed; what was computed of it stays in the load."
    ) in found.notes


def test_who_is_answered_before_the_limit_is_served(tmp_path: Path) -> None:
    found = simulated(tmp_path, client_timeout_s=600.0).main.answers
    assert (found.requests["ok"], found.requests["cancelled"]) == (5, 1)
    assert found.holds
