"""The saturation of theory beside that of engines which always have requests waiting."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulated import settings as settings_with
from vramledger.engine.read import read_launch
from vramledger.frozen import frozen
from vramledger.hardware.catalogue import find
from vramledger.ledger.case import Case
from vramledger.model.load import load_model
from vramledger.plan.requirement import Kind
from vramledger.simulate.capacity import Capacity, capacity_of
from vramledger.simulate.offered import Offered, read_offered
from vramledger.simulate.run import (
    EXPECTED,
    NotServed,
    Question,
    bench_of,
    expected,
    played,
    ready_for,
)
from vramledger.simulate.saturation import balance_of, mix_of, per_s
from vramledger.simulate.step_cost import StepCost, fixed
from vramledger.simulate.theory import LinearCost, saturation_requests_per_s
from vramledger.workload.importer import import_logs
from vramledger.workload.operators.prepared import Part

MODEL = "meta-llama/Llama-3.1-8B"
COUNT = 30_000
LARGE: dict[str, Any] = {"num_blocks": 4001, "max_num_seqs": 100, "token_budget": 4000}


def offered(prompts: Any, outputs: Any, every_ms: float = 5.0) -> Offered:
    """More than any engine here serves, in an order that says nothing of their lengths."""
    count = len(prompts)
    absent, none = np.full(count, -1, np.int64), np.zeros(0, np.int64)
    due = (np.arange(count) * every_ms * 1e6).astype(np.int64)
    return Offered(
        np.arange(count), due, np.asarray(prompts, np.int64), np.asarray(outputs, np.int64),
        absent, absent, absent, none, np.zeros(count, np.int64), 0, 0,
    )  # fmt: skip


def long_tails(mean_in: float, mean_out: float, sigma: float) -> Offered:
    draw = np.random.default_rng(3)
    tokens = draw.lognormal(-sigma * sigma / 2, sigma, (2, COUNT)) * [[mean_in], [mean_out]]
    return offered(*np.maximum(tokens, 1))


def of_trace(path: Path) -> Offered:
    """The lengths of a trace again and again, each time in another order."""
    found, draw = read_offered(path), np.random.default_rng(5)
    most = min(len(found), 6000)
    kept = np.linspace(0, len(found) - 1, most).astype(np.int64)
    order = np.concatenate([draw.permutation(kept) for _ in range(COUNT // most)])
    return offered(found.input_tokens[order], found.output_tokens[order])


@frozen
class Both:
    """Requests a second, of which the engine rejects some, and those that run."""

    theory: Capacity
    per_s: float
    running: float
    recomputed: float  # tokens over those of all prompts


def both(load: Offered, card: str, flags: str = "") -> Both:
    launch = read_launch(f"vllm serve {MODEL} --no-enable-prefix-caching {flags}")
    case = Case(launch, load_model(MODEL), find(card, "test"), "0.32.0")
    ready = ready_for(Question(case, Part(Path("none.parquet")), end=EXPECTED, prefix=False))
    assert not isinstance(ready, NotServed)
    bench = bench_of(ready, load)
    run = played(bench, lambda _done, _of_all: None, hits=False)
    last = np.sort(run.figures.found["last_token_ns"])
    done = last[last > 0] / 1e9
    first, end = int(0.3 * len(done)), int(0.85 * len(done))
    served = (end - first) / (done[end] - done[first])
    again = run.figures.found["recomputed_tokens"].sum() / load.input_tokens.sum()
    return Both(
        expected(bench, run.settings),
        served * len(load) / len(done),
        run.answers.levels.running.p50 or 0.0,
        float(again),
    )


@pytest.mark.parametrize(
    ("card", "flags"),
    [
        ("H100-80GB-SXM", ""),
        ("H100-80GB-SXM", "--max-num-seqs 64"),
        ("L40S", "--max-model-len 16384"),
    ],
)
@pytest.mark.parametrize(
    "lengths", [(1000, 200, 0.0), (1000, 200, 1.0), (4000, 200, 1.5), (500, 500, 1.2)]
)
def test_saturation_is_that_of_the_lengths_themselves(
    lengths: tuple[float, float, float], card: str, flags: str
) -> None:
    found = both(long_tails(*lengths), card, flags)
    assert found.theory.saturation_per_s == pytest.approx(found.per_s, rel=0.1)
    assert found.theory.concurrency == pytest.approx(found.running, rel=0.1)


@pytest.mark.parametrize("trace", ["azure_llm_2023_conv.csv", "mooncake_conversation_trace.jsonl"])
@pytest.mark.parametrize(
    ("card", "flags"), [("H100-80GB-SXM", ""), ("L40S", "--max-model-len 16384")]
)
def test_saturation_of_recorded_lengths_is_simulated_alike(
    trace: str, card: str, flags: str, shared_data: Path, tmp_path: Path
) -> None:
    path = tmp_path / "w.parquet"
    import_logs([str(shared_data / "traces" / trace)], path)
    found = both(of_trace(path), card, flags)
    assert found.theory.saturation_per_s == pytest.approx(found.per_s, rel=0.05)


def test_what_is_computed_again_is_no_part_of_it() -> None:
    found = both(long_tails(200, 1000, 1.0), "H100-80GB-SXM")
    assert found.recomputed > 1
    assert found.per_s < found.theory.saturation_per_s < 1.2 * found.per_s


@given(st.integers(1, 300), st.integers(2, 300), st.integers(1, 100))
def test_of_short_requests_of_one_length_it_is_the_work_of_each(
    prompt: int, output: int, at_once: int
) -> None:
    engine = settings_with(**LARGE | {"max_model_len": 1000})
    mix = mix_of(offered([prompt] * 10, [output] * 10), engine)
    assert mix is not None
    cost = StepCost(constant=fixed(10e6), prefill_tokens=fixed(20e3), decode_context=fixed(100.0))
    plain = LinearCost(10e-3, 20e-6, 0.0, 100e-9)
    found = per_s(balance_of(engine, mix, at_once), engine, cost)
    right = saturation_requests_per_s(plain, at_once, [(prompt, output)])
    assert found == pytest.approx(right, rel=0.03)


def capacity(load: Offered, limit: int) -> Capacity:
    engine = settings_with(**LARGE | {"max_model_len": limit})
    cost = StepCost(constant=fixed(10e6))
    return capacity_of(load, engine, cost, 1, headroom=None, kind=Kind.LATENCY)


def test_requests_that_the_engine_rejects_cost_nothing() -> None:
    short, mixed = offered([40] * 100, [40] * 100), offered([40, 500] * 50, [40] * 100)
    assert capacity(mixed, 100).saturation_per_s == pytest.approx(
        2 * capacity(short, 100).saturation_per_s
    )
    assert capacity(mixed, 100).concurrency == capacity(short, 100).concurrency


def test_an_engine_that_rejects_all_serves_none() -> None:
    found = capacity(offered([500] * 10, [40] * 10), 100)
    assert (found.concurrency, found.saturation_per_s, found.safe_per_s) == (0, 0, 0)


def test_of_more_requests_than_are_looked_at_it_is_the_same() -> None:
    few = long_tails(40, 40, 0.3)
    many = replace(
        offered(np.tile(few.input_tokens, 5), np.tile(few.output_tokens, 5)),
        due_ns=np.tile(few.due_ns, 5),
    )
    assert capacity(many, 4000).saturation_per_s == pytest.approx(
        capacity(few, 4000).saturation_per_s, rel=0.01
    )
