"""Pauses of requests: which steps brought tokens, in the run's columns and in the gaps between tokens."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as profile
from hypothesis import strategies as st

from simulated import settings
from stored_workloads import request as row_of
from stored_workloads import stored
from vramledger.cli.main import run as command
from vramledger.frozen import frozen
from vramledger.record.gaps import with_gaps
from vramledger.record.run import read_run
from vramledger.simulate.columns import columns_of
from vramledger.simulate.engines import Engine
from vramledger.simulate.fast.records import UNSET
from vramledger.simulate.figures import Figures
from vramledger.simulate.loop import simulate
from vramledger.simulate.numbering import numbered
from vramledger.simulate.output_gaps import output_gaps
from vramledger.simulate.request import Arrival, Request
from vramledger.simulate.scheduler import Scheduler
from vramledger.simulate.settings import Order, Settings, Speculation
from vramledger.simulate.silent_steps import silent_steps, steps_told
from vramledger.simulate.step import Features, Step

DRAFTS = Speculation(tokens=2, acceptance=500_000, lookahead=2)


@frozen
class Watched:
    """An engine, and the number of each step that brought a request tokens, by rank."""

    engine: Engine
    events: dict[int, list[int]]


def cost(features: Features) -> int:
    """Steps of different lengths, so that no two gaps are alike by chance."""
    return 1000 + 37 * features.prefill_tokens + 101 * features.decode_requests


def watched(engine: Settings, arrivals: list[Arrival]) -> Watched:
    events: dict[int, list[int]] = {}
    had: Counter[int] = Counter()

    def observe(step: Step, _ended: list[Request], _scheduler: Scheduler) -> None:
        for request in step.scheduled:
            if request.generated > had[request.rank]:
                had[request.rank] = request.generated
                events.setdefault(request.rank, []).append(step.number)

    outcome = simulate(engine, arrivals, cost, observe=observe)
    place = {row.number: number for number, row in enumerate(outcome.steps)}
    found = numbered(columns_of(outcome))
    told = {rank: [place[step] for step in steps] for rank, steps in events.items()}
    return Watched(Engine(np.arange(len(arrivals)), found, compiled=False), told)


def figures(engine: Engine) -> Figures:
    nothing: dict[str, Any] = {}
    rows = len(engine.found.requests)
    return Figures(
        np.zeros(rows, np.int32), np.zeros(rows, "<U9"), nothing, nothing, engine.found.requests
    )


def speaking(engine: Engine, column: pa.Array, rank: int) -> list[int]:
    """The steps that brought tokens, from the columns alone."""
    row = engine.found.requests[rank]
    first, last = int(row["first_token_step"]), int(row["last_token_step"])
    if first == UNSET:
        return []
    flat = column[rank].as_py() or []
    silent = {
        first + begin + step
        for begin, length in zip(flat[::2], flat[1::2], strict=True)
        for step in range(length)
    }
    return [step for step in range(first, last + 1) if step not in silent]


ENGINES = st.builds(
    settings,
    num_blocks=st.integers(8, 30),
    max_num_seqs=st.integers(1, 8),
    token_budget=st.integers(8, 32),
    max_model_len=st.integers(60, 100),
    order=st.sampled_from(list(Order)),
    async_scheduling=st.booleans(),
    prefix_caching=st.booleans(),
    speculation=st.sampled_from([None, DRAFTS]),
)
ARRIVALS = st.lists(
    st.builds(
        Arrival,
        arrival_ns=st.integers(0, 20_000),
        input_tokens=st.integers(1, 40),
        output_tokens=st.integers(1, 40),
        priority=st.integers(0, 2),
        cancel_after_ns=st.none() | st.integers(0, 60_000),
    ),
    min_size=1,
    max_size=12,
)


@profile(max_examples=150, deadline=None)
@given(ENGINES, ARRIVALS)
def test_the_columns_tell_every_step_that_brought_tokens(
    engine: Settings, arrivals: list[Arrival]
) -> None:
    run = watched(engine, arrivals)
    column = silent_steps(figures(run.engine), [run.engine])
    assert steps_told(figures(run.engine), [run.engine]).all()
    for rank in range(len(arrivals)):
        assert speaking(run.engine, column, rank) == run.events.get(rank, [])


@profile(max_examples=150, deadline=None)
@given(ENGINES, ARRIVALS)
def test_the_gaps_are_those_between_successive_tokens_pauses_included(
    engine: Settings, arrivals: list[Arrival]
) -> None:
    run = watched(engine, arrivals)
    ends = run.engine.found.steps["end_ns"]
    expected = Counter(
        round(float(ends[after] - ends[before]))
        for steps in run.events.values()
        for before, after in pairwise(steps)
    )
    found = output_gaps([run.engine])
    counted: Counter[int] = Counter()
    for seconds, events in zip(found.seconds, found.events, strict=True):
        assert events >= 0
        counted[round(seconds * 1e9)] += int(events)
    assert +counted == expected
    assert found.pauses_told


def test_a_preempted_request_has_one_long_gap() -> None:
    tight = settings(num_blocks=9, max_num_seqs=2)
    run = watched(tight, [Arrival(0, 8, 14), Arrival(0, 8, 14)])
    assert run.engine.found.requests["preemptions"].tolist() == [0, 1]
    pauses = run.engine.found.pauses
    assert pauses is not None
    assert pauses["rank"].tolist() == [1]
    ends = run.engine.found.steps["end_ns"]
    pause = ends[pauses["next_step"][0]] - ends[pauses["last_step"][0]]
    assert output_gaps([run.engine]).at(1.0) == float(pause) / 1e9
    assert silent_steps(figures(run.engine), [run.engine]).null_count == 1


@pytest.mark.parametrize("order", ["fcfs", "priority"])
def test_every_chunk_of_a_written_run_is_among_the_gaps(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    order: str,
) -> None:
    """By counts of blocks and block by block: the requests' own columns give the ITL that is printed."""
    asked_for = [
        row_of(row, arrival_s=row / 10, input_tokens=40, output_tokens=300) for row in range(20)
    ]
    stored(tmp_path / "w.parquet", asked_for)
    monkeypatch.chdir(tmp_path)
    launch = (
        "vllm serve meta-llama/Llama-3.1-8B --max-model-len 2048 --num-gpu-blocks-override 150 "
        f"--scheduling-policy {order}"
    )
    asked = ["--gpu", "H100-80GB-SXM", "--engine-version", "0.32.0", "--workload", "w.parquet"]
    command(["simulate", launch, *asked, "--no-prefix", "-o", "r", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert found["preemptions"] > 0
    gaps = []
    for batch in with_gaps(read_run(Path("r"))):
        rows = (batch["chunk_offset_us"].to_pylist(), batch["output_tokens_got"].to_pylist())
        for offsets, tokens in zip(*rows, strict=True):
            assert len(offsets or ()) == tokens
            gaps += np.diff(offsets or [0]).tolist()
    ordered = np.sort(gaps) / 1e6
    assert ordered[-1] == pytest.approx(found["itl_s"]["max"], abs=2e-6)
    for name, share in (("p50", 0.5), ("p99", 0.99)):
        place = max(int(np.ceil(share * len(ordered) - 1e-9)) - 1, 0)
        assert ordered[place] == pytest.approx(found["itl_s"][name], abs=2e-6)
