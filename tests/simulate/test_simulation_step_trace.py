"""The trace of steps, against the answers of the oracle."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as profile
from hypothesis import strategies as st

from simulated import settings
from vramledger.errors import BadInput
from vramledger.simulate.engine_load import EngineLoad
from vramledger.simulate.fast.load import load_of
from vramledger.simulate.oracle import answer_case
from vramledger.simulate.request import Arrival
from vramledger.simulate.settings import Settings
from vramledger.simulate.step_cost import StepCost, fixed
from vramledger.simulate.step_trace import StepTrace

ENGINE = {
    "num_blocks": 14, "block_size": 4, "max_num_batched_tokens": 16, "max_num_seqs": 4,
    "max_model_len": 60, "prefix_caching": False, "long_prefill_token_threshold": 6,
}  # fmt: skip
SETTINGS = settings(
    num_blocks=14, token_budget=16, max_num_seqs=4, max_model_len=60, long_prefill_threshold=6
)


def part(arrivals: list[Arrival], engine: Settings = SETTINGS, number: int = 0) -> EngineLoad:
    return EngineLoad(
        number,
        engine,
        load_of(arrivals),
        np.arange(len(arrivals)) * 2 + number,
        StepCost(constant=fixed(1000)),
        0,
        lambda _ended: None,
    )


def traced(path: Path, arrivals: list[Arrival]) -> list[dict[str, Any]]:
    StepTrace(path).serve(part(arrivals))
    return [json.loads(line) for line in path.read_text().splitlines()]


@profile(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 20)), min_size=1, max_size=8))
def test_every_line_is_an_element_of_the_oracles_steps(
    tmp_path: Path, lengths: list[tuple[int, int]]
) -> None:
    case = {
        **ENGINE,
        "requests": [
            {
                "id": str(2 * number),
                "arrival_step": 0,
                "prompt": [1000 * number + token for token in range(prompt)],
                "output_len": output,
            }
            for number, (prompt, output) in enumerate(lengths)
        ],
    }
    expected = answer_case(case)
    assert expected["done"]
    lines = traced(tmp_path / "s.jsonl", [Arrival(0, *pair) for pair in lengths])
    assert lines == expected["steps"]


def test_several_engines_write_a_file_each(tmp_path: Path) -> None:
    trace = StepTrace(tmp_path / "steps.jsonl", engines=2)
    for number in range(2):
        trace.serve(part([Arrival(0, 5, 2)], number=number))
    assert [path.name for path in trace.files()] == [
        "steps.engine-0.jsonl",
        "steps.engine-1.jsonl",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == [path.name for path in trace.files()]
    first = json.loads(trace.file_of(1).read_text().splitlines()[0])
    assert first["scheduled"] == {"1": 5}


def test_a_trace_that_is_interrupted_leaves_no_file(tmp_path: Path) -> None:
    def stop(ended: int) -> None:
        raise KeyboardInterrupt(ended)

    interrupted = part([Arrival(0, 5, 2)])
    with pytest.raises(KeyboardInterrupt):
        StepTrace(tmp_path / "s.jsonl").serve(
            EngineLoad(0, SETTINGS, interrupted.load, interrupted.places, interrupted.cost, 0, stop)
        )
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_take_a_trace_is_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no is no folder; make it first\.$"):
        StepTrace(tmp_path / "no" / "s.jsonl").refuse_places()
    with pytest.raises(BadInput, match=r"choose another --trace-steps\.$"):
        StepTrace(tmp_path).refuse_places()
