"""Throughput that exists on paper only: caps, batches and users multiplied.

Facts: throughput rises with the batch while weights are read once for all, and flattens where the cache
is read for each (https://arxiv.org/abs/2211.05102), or where the pool holds no more
requests; a prompt of others delays every running answer (https://arxiv.org/abs/2403.02310).
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from steady_requests import poisson
from stored_workloads import Row

Ask = Callable[..., Any]
LAUNCH = "vllm serve meta-llama/Llama-3.1-8B-Instruct --max-model-len 32768"
CARD, VERSION = "H100-80GB-SXM", "0.19.0"
CAPPED = f"{LAUNCH} --max-num-seqs 256"


def test_a_cap_of_256_is_not_256_running(predicted: Ask) -> None:
    said = predicted(CAPPED, CARD, VERSION, (8_000, 1_000, 256)).json
    assert 45 < said["kv_feasible_concurrency"] < 55
    assert said["running"] < 60
    assert said["ttft_s"]["value"] > 60
    assert any(note.startswith("256 requests are in flight, but ") for note in said["notes"])


def test_a_larger_cap_beyond_the_pool_changes_nothing(simulated: Ask) -> None:
    small, large = (
        simulated(f"{LAUNCH} --max-num-seqs {cap} --num-gpu-blocks-override 20000", CARD, VERSION,
                  poisson(600, 20, 8_000, 300)).json
        for cap in (256, 512)
    )  # fmt: skip
    assert small["running"]["max"] < 60
    assert small["e2e_s"] == large["e2e_s"]
    assert small["steps"] == large["steps"]


def test_a_cap_below_the_pool_is_named_as_what_binds(simulated: Ask) -> None:
    said = simulated(
        f"{LAUNCH} --max-num-seqs 64", CARD, VERSION, poisson(1_500, 60, 200, 400)
    ).json
    assert said["running"]["max"] == 64
    assert said["kv_usage"]["max"] < 0.1
    assert max(said["binding"], key=said["binding"].__getitem__) == "sequence_cap"


def test_throughput_does_not_scale_with_the_batch(predicted: Ask) -> None:
    rates = {
        concurrency: predicted(CAPPED, CARD, VERSION, (8_000, 1_000, concurrency)).json
        for concurrency in (1, 8, 32, 64, 256)
    }
    tokens = {at: said["output_tokens_per_s"] for at, said in rates.items()}
    assert tokens[1] < tokens[8] < tokens[32] < tokens[64]
    assert tokens[8] < 8 * tokens[1] * 0.8
    assert tokens[32] < 4 * tokens[8] * 0.6
    assert tokens[256] < 1.05 * tokens[64]  # the pool is full; the rest only waits
    assert rates[256]["ttft_s"]["value"] > 10 * rates[64]["ttft_s"]["value"]


def test_the_speed_of_one_user_times_users_is_not_the_servers(predicted: Ask) -> None:
    alone = predicted(CAPPED, CARD, VERSION, (8_000, 1_000, 1)).json
    crowd = predicted(CAPPED, CARD, VERSION, (8_000, 1_000, 64)).json
    users = 64 / alone["tpot_s"]["value"]
    assert crowd["output_tokens_per_s"] < 0.25 * users
    assert crowd["tpot_s"]["value"] > 3 * alone["tpot_s"]["value"]


def test_where_the_cache_is_small_the_batch_does_pay(predicted: Ask) -> None:
    said = {at: predicted(CAPPED, CARD, VERSION, (200, 500, at)).json for at in (1, 16)}
    gain = said[16]["output_tokens_per_s"] / said[1]["output_tokens_per_s"]
    assert 12 < gain < 16
    assert said[1]["binding"] == "weights"


def test_long_prompts_of_others_delay_running_answers(simulated: Ask) -> None:
    launch = f"{LAUNCH} --max-num-batched-tokens 8192"
    quiet = simulated(launch, CARD, VERSION, poisson(400, 4, 200, 400)).json
    mixed = simulated(launch, CARD, VERSION, _with_long_prompts()).json
    assert mixed["itl_s"]["p99"] > 10 * quiet["itl_s"]["p99"]
    assert mixed["tpot_s"]["p50"] > 1.5 * quiet["tpot_s"]["p50"]
    assert mixed["kv_usage"]["max"] < 0.5
    assert mixed["preemptions"] == 0


def test_a_smaller_token_budget_shortens_the_stalls_and_lengthens_the_first_token(
    simulated: Ask,
) -> None:
    large, small = (
        simulated(f"{LAUNCH} --max-num-batched-tokens {budget}", CARD, VERSION,
                  _with_long_prompts()).json
        for budget in (8192, 1024)
    )  # fmt: skip
    assert small["itl_s"]["max"] < 0.3 * large["itl_s"]["max"]
    assert small["ttft_s"]["p95"] > large["ttft_s"]["p95"]


@pytest.mark.parametrize(("share", "queue"), [(0.7, "drains"), (1.3, "grows")])
def test_a_queue_drains_below_saturation_and_not_above(
    simulated: Ask, share: float, queue: str
) -> None:
    launch = f"{LAUNCH} --max-num-seqs 32"
    idle = simulated(launch, CARD, VERSION, poisson(400, 1, 1_000, 200)).json
    at_most = idle["theory"]["saturation_requests_per_s"]
    said = simulated(launch, CARD, VERSION, poisson(3_000, share * at_most, 1_000, 200)).json
    assert said["queue_drains"] is (queue == "drains")
    assert (said["queue_s"]["p95"] > 5) is (queue == "grows")
    assert abs(said["theory"]["little_residual"]) < 0.02


def _with_long_prompts() -> Iterator[Row]:
    """Chats, and 40 prompts of 30,000 tokens among them."""
    yield from poisson(400, 4, 200, 400)
    yield from poisson(40, 0.5, 30_000, 10, seed=1, start_s=5)
