"""The cost that the simulator takes, against the step time it stands for."""

import pytest

from timing_questions import LLAMA, deployed, pricer
from vramledger.simulate.step import Features
from vramledger.simulate.timing.engine_cost import engine_cost
from vramledger.simulate.timing.step import Batch


@pytest.mark.parametrize("model", [LLAMA, "openai/gpt-oss-120b", "Qwen/Qwen3-30B-A3B"])
@pytest.mark.parametrize(
    ("features", "batch"),
    [
        (Features(0, 0, 0, 64, 64, 64 * 2000), Batch(64, 2000)),
        (Features(0, 0, 0, 1, 1, 900), Batch(1, 900)),
        (Features(2048, 1, 2048 * 1024, 64, 64, 64 * 2000), Batch(64, 2000, 2048, 1024, 1)),
        (Features(8000, 1, 8000 * 4000, 0, 0, 0), Batch(0, 0, 8000, 4000, 1)),
    ],
)
def test_whole_nanoseconds_follow_the_step_time(
    model: str, features: Features, batch: Batch
) -> None:
    cost = engine_cost(deployed(model=model))
    assert cost(features) / 1e9 == pytest.approx(pricer(model=model).seconds(batch), rel=0.02)


def test_the_cost_grows_with_every_feature() -> None:
    cost = engine_cost(deployed())
    plain = cost(Features(100, 1, 5000, 10, 10, 1000))
    assert cost(Features(200, 1, 5000, 10, 10, 1000)) > plain
    assert cost(Features(100, 2, 5000, 10, 10, 1000)) > plain
    assert cost(Features(100, 1, 900_000, 10, 10, 1000)) > plain
    assert cost(Features(100, 1, 5000, 10, 10, 9000)) > plain
