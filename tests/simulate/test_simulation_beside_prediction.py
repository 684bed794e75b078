"""A closed loop simulated step for step, and the steady state that is predicted for it."""

from pathlib import Path

import numpy as np
import pytest

from stored_workloads import request, stored
from vramledger.engine.read import read_launch
from vramledger.errors import BadInput
from vramledger.hardware.catalogue import find
from vramledger.ledger.case import Case
from vramledger.model.load import load_model
from vramledger.simulate.offered import Offered, read_offered
from vramledger.simulate.recorded_lengths import recorded_lengths
from vramledger.simulate.run import EXPECTED, Question, Simulation, simulate_case
from vramledger.simulate.serving import Serving
from vramledger.simulate.timing.closed_loop import Load
from vramledger.simulate.timing.lengths import spread_length
from vramledger.simulate.timing.predict import predict
from vramledger.workload.operators.prepared import Part

MODEL = "meta-llama/Llama-3.1-8B"
LAUNCH = f"vllm serve {MODEL} --max-model-len 16384 --no-enable-prefix-caching"


def lengths_of(kind: str, rounds: int) -> list[tuple[int, int]]:
    if kind == "spread":
        found = [spread_length(1000, 200, 1 / 9, number) for number in range(rounds)]
        return [(each.prompt, each.output) for each in found]
    if kind == "alike":
        return [(1000, 200)] * rounds
    draw = np.random.default_rng(7)
    drawn = draw.lognormal(-0.5, 1.0, (rounds, 2)) * (1000, 200)
    return [(max(1, int(a)), max(1, int(b))) for a, b in drawn.clip(1, 15_000)]


def offered(folder: Path, lengths: list[tuple[int, int]]) -> Path:
    rows = [
        request(row, arrival_s=row * 0.01, input_tokens=prompt, output_tokens=output)
        for row, (prompt, output) in enumerate(lengths)
    ]
    return stored(folder / "w.parquet", rows)


def case(card: str) -> Case:
    return Case(read_launch(LAUNCH), load_model(MODEL), find(card, "test"), "0.18.0")


def quiet(_done: int, _of_all: int) -> None:
    return


@pytest.mark.parametrize(
    ("kind", "card", "in_flight", "tpot_within"),
    [
        ("spread", "H100-80GB-SXM", 100, 0.02),
        ("spread", "L40S", 130, 0.02),
        ("alike", "H100-80GB-SXM", 100, 0.03),
        ("long tails", "H100-80GB-SXM", 100, 0.02),
        ("long tails", "L40S", 300, 0.1),  # more than the cache holds: preemptions differ
    ],
)
def test_a_steady_state_is_the_same_predicted_and_simulated(
    kind: str, card: str, in_flight: int, tpot_within: float, tmp_path: Path
) -> None:
    path = offered(tmp_path, lengths_of(kind, 40 * in_flight))
    question = Question(
        case(card), Part(path), end=EXPECTED, serving=Serving(closed=in_flight), prefix=False
    )
    found = simulate_case(question, quiet)
    assert isinstance(found, Simulation)
    settled = slice(8 * in_flight, 34 * in_flight)
    simulated = {
        name: np.nanmean(found.main.figures.latency[name][settled]) for name in ("ttft_s", "tpot_s")
    }
    taken = recorded_lengths(read_offered(path), 16_384).taken
    load = Load(taken.input_mean, taken.output_mean, in_flight, recorded=taken)
    predicted = predict(case(card).deployment(), load)
    assert predicted.tpot.value == pytest.approx(simulated["tpot_s"], rel=tpot_within)
    assert predicted.ttft.value == pytest.approx(simulated["ttft_s"], rel=0.15)


def read(folder: Path, lengths: list[tuple[int, int]]) -> Offered:
    return read_offered(offered(folder, lengths))


def test_lengths_are_those_that_the_engine_serves(tmp_path: Path) -> None:
    found = recorded_lengths(read(tmp_path, [(10, 5), (100, 5), (99, 5), (96, 5)]), 100)
    assert (found.taken.prompts, found.taken.outputs) == ((10, 99, 96), (5, 1, 4))
    assert (found.served, found.rejected, found.cut) == (3, 1, 2)


def test_a_workload_that_the_engine_rejects_whole_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refused:
        recorded_lengths(read(tmp_path, [(100, 5)]), 100)
    assert str(refused.value) == (
        "The engine rejects every request of the workload: no prompt leaves room below max_model_len "
        "(100 tokens); raise --max-model-len."
    )


def test_of_a_long_workload_lengths_are_taken_at_even_distances(tmp_path: Path) -> None:
    found = recorded_lengths(read(tmp_path, [(row + 1, 1) for row in range(30_000)]), 100_000)
    assert found.served == 30_000
    assert len(found.taken) == 10_000
    assert found.taken.input_mean == pytest.approx(15_000, rel=0.001)
