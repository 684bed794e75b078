"""A simulation that takes long is announced, and a step that takes hardly any tokens told."""

import pytest

from vramledger.simulate.long_play import long_play, small_budget


def test_a_simulation_of_many_requests_is_announced_with_their_number() -> None:
    assert long_play(1_500_000, 3_000_000_000, 8192) == (
        "1,500,000 requests with 3,000,000,000 prompt tokens are simulated, which fill 366,210 steps; this can take "
        "many minutes, and the slow end of the step times is played after it. A part of the workload (vram workload "
        "head or slice) or a lower --rate-scale takes less."
    )


def test_so_is_one_of_few_requests_that_takes_many_steps() -> None:
    said = long_play(20_000, 40_000_000, 1)
    assert said.startswith("20,000 requests with 40,000,000 prompt tokens are simulated")
    assert said.endswith(small_budget(1))


def test_one_that_is_soon_over_is_not() -> None:
    assert long_play(20_000, 40_000_000, 8192) == ""


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (1, "1 token only, so that a prompt of 1,000 tokens needs 1,000 steps"),
        (48, "48 tokens only"),
    ],
)
def test_a_small_token_budget_gets_a_remark(budget: int, said: str) -> None:
    assert f"--max-num-batched-tokens lets a step take {said}" in small_budget(budget)
    assert small_budget(64) == ""
